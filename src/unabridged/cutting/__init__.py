"""
What leaves a view where something has to, and what stays.
"""
