"""
A model that is down does not stop a chat: a digest made without one stands in, and the log says so.
"""

import logging
import sys

from unabridged import Ask, Memory, Summarize, asking, assistant, user

logging.basicConfig(stream=sys.stdout, format="%(levelname)s %(name)s: %(message)s")


class Model:
    """Stands for `asking.openai(client, model="gpt-5-mini")`; the network is down at first."""

    def __init__(self) -> None:
        """Be down."""
        self.is_up = False

    def __call__(self, ask: Ask) -> str:
        """Answer what an `Ask` tells: `ask.messages` is the request, ready to be sent."""
        if not self.is_up:
            raise ConnectionError
        return "Ana's order A-1042, due on 24 May, is held up in Callao; a refund is offered."


model = Model()
memory = Memory(
    strategy=Summarize(keep_last=2, max_tokens=60),
    ask=asking.fallback(model, asking.offline()),
)
memory.append(
    user("Hello! I am Ana, and my order A-1042 never came."),
    assistant("I am sorry to hear that, Ana. Let me have a look at it for you."),
    assistant("It was due on 24 May and is held up at the customs of Callao."),
    user("That is most annoying, you know."),
    assistant("I do understand. I can offer you a refund, or you wait a little longer."),
    user("How long would that be?"),
)
print(memory.context().text(), end="\n\n")

model.is_up = True
memory.append(assistant("A week at most."), user("Then I will wait."))
print(memory.context().text())

# prints:
# WARNING unabridged: fallback: no answer of Model: ConnectionError; asking asking.offline()
# system: Summary of the earlier conversation:
# user: Hello! I am Ana, and my order A-1042 never came.
# assistant: It was due on 24 May and is held up at the customs of Callao.
# user: That is most annoying, you know.
# assistant: I do understand. I can offer you a refund, or you wait a little longer.
# user: How long would that be?
#
# system: Summary of the earlier conversation:
# Ana's order A-1042, due on 24 May, is held up in Callao; a refund is offered.
# assistant: A week at most.
# user: Then I will wait.
