BEGIN TRANSACTION;
CREATE TABLE records (
  thread INTEGER NOT NULL,
  rec INTEGER NOT NULL,
  kind TEXT NOT NULL,
  seq INTEGER,
  message_id,
  pinned INTEGER,
  head INTEGER,
  opener INTEGER,
  asked INTEGER,
  at REAL NOT NULL,
  body TEXT NOT NULL,
  UNIQUE (thread, rec)
);
INSERT INTO "records" VALUES(1,1,'appended',1,NULL,0,1,0,0,1.0,'{"v":1,"rec":1,"at":1.0,"kind":"appended","seq":1,"message":{"role":"system","parts":["Be brief."]}}');
INSERT INTO "records" VALUES(1,2,'appended',2,NULL,0,2,2,2,1.0,'{"v":1,"rec":2,"at":1.0,"kind":"appended","seq":2,"message":{"role":"user","parts":["q1"]}}');
INSERT INTO "records" VALUES(1,3,'appended',3,NULL,0,3,2,2,2.0,'{"v":1,"rec":3,"at":2.0,"kind":"appended","seq":3,"message":{"role":"assistant","parts":[{"type":"call","id":"c1","name":"look"},{"type":"call","id":"c2","name":"look"}]}}');
INSERT INTO "records" VALUES(1,4,'appended',4,NULL,0,3,2,2,2.0,'{"v":1,"rec":4,"at":2.0,"kind":"appended","seq":4,"message":{"role":"tool","parts":[{"type":"result","call_id":"c2","content":["x"]}]}}');
INSERT INTO "records" VALUES(1,5,'appended',5,NULL,0,5,5,5,3.0,'{"v":1,"rec":5,"at":3.0,"kind":"appended","seq":5,"message":{"role":"user","parts":["interjection"]}}');
INSERT INTO "records" VALUES(1,6,'appended',6,NULL,0,6,5,5,4.0,'{"v":1,"rec":6,"at":4.0,"kind":"appended","seq":6,"message":{"role":"assistant","parts":["a1"]}}');
INSERT INTO "records" VALUES(1,7,'appended',7,'m1',1,7,7,7,4.0,'{"v":1,"rec":7,"at":4.0,"kind":"appended","seq":7,"message":{"role":"user","parts":["keep"],"id":"m1"},"pinned":true}');
INSERT INTO "records" VALUES(1,8,'noted',NULL,NULL,NULL,NULL,NULL,NULL,5.0,'{"v":1,"rec":8,"at":5.0,"kind":"noted","notes":[{"kind":"cut","key":"Window(2)","value":"{\"first\":3}"},{"kind":"answer","key":"s","value":"\"old\""}]}');
INSERT INTO "records" VALUES(1,9,'decided',NULL,NULL,NULL,NULL,NULL,NULL,6.0,'{"v":1,"rec":9,"at":6.0,"kind":"compacted","upto":8,"changes":[{"type":"drop","sources":[[3,4]],"reason":"old","step":"Window(2)"}]}');
INSERT INTO "records" VALUES(1,10,'appended',8,NULL,0,3,2,7,7.0,'{"v":1,"rec":10,"at":7.0,"kind":"appended","seq":8,"message":{"role":"tool","parts":[{"type":"result","call_id":"c1","content":["late"]}]}}');
INSERT INTO "records" VALUES(1,11,'appended',9,NULL,0,9,9,9,8.0,'{"v":1,"rec":11,"at":8.0,"kind":"appended","seq":9,"message":{"role":"user","parts":["q2"]}}');
INSERT INTO "records" VALUES(1,12,'appended',10,NULL,0,10,10,10,8.0,'{"v":1,"rec":12,"at":8.0,"kind":"appended","seq":10,"message":{"role":"user","parts":["q3"]}}');
INSERT INTO "records" VALUES(1,13,'decided',NULL,NULL,NULL,NULL,NULL,NULL,9.0,'{"v":1,"rec":13,"at":9.0,"kind":"compacted","upto":12,"changes":[{"type":"fold","sources":[2,[5,6]],"into":{"role":"system","parts":["They talked."]},"step":"Summarize()"},{"type":"fold","sources":[9],"into":{"role":"user","parts":["q2, reworded"]},"reason":"shorter"},{"type":"hold","sources":[1],"reason":"recalled"},{"type":"insert","into":{"role":"system","parts":["It is Monday."]},"after":2}]}');
INSERT INTO "records" VALUES(1,14,'appended',11,NULL,0,11,10,10,10.0,'{"v":1,"rec":14,"at":10.0,"kind":"appended","seq":11,"message":{"role":"assistant","parts":[{"type":"reasoning","text":"hm"}]}}');
INSERT INTO "records" VALUES(1,15,'appended',12,NULL,0,11,10,10,10.0,'{"v":1,"rec":15,"at":10.0,"kind":"appended","seq":12,"message":{"role":"assistant","parts":[{"type":"call","id":"c1","name":"look"}]}}');
INSERT INTO "records" VALUES(1,16,'decided',NULL,NULL,NULL,NULL,NULL,NULL,11.0,'{"v":1,"rec":16,"at":11.0,"kind":"pinned","span":[[11,12]]}');
INSERT INTO "records" VALUES(1,17,'appended',13,NULL,0,11,10,10,11.0,'{"v":1,"rec":17,"at":11.0,"kind":"appended","seq":13,"message":{"role":"tool","parts":[{"type":"result","call_id":"c1","content":["x"]}]}}');
INSERT INTO "records" VALUES(1,18,'decided',NULL,NULL,NULL,NULL,NULL,NULL,12.0,'{"v":1,"rec":18,"at":12.0,"kind":"reverted","of":9}');
INSERT INTO "records" VALUES(1,19,'decided',NULL,NULL,NULL,NULL,NULL,NULL,13.0,'{"v":1,"rec":19,"at":13.0,"kind":"reverted","of":18}');
INSERT INTO "records" VALUES(1,20,'decided',NULL,NULL,NULL,NULL,NULL,NULL,14.0,'{"v":1,"rec":20,"at":14.0,"kind":"pinned","span":[7],"on":false}');
INSERT INTO "records" VALUES(1,21,'noted',NULL,NULL,NULL,NULL,NULL,NULL,14.0,'{"v":1,"rec":21,"at":14.0,"kind":"noted","notes":[{"kind":"cut","key":"Window(2)","value":"{\"first\":5}"}]}');
INSERT INTO "records" VALUES(1,22,'decided',NULL,NULL,NULL,NULL,NULL,NULL,15.0,'{"v":1,"rec":22,"at":15.0,"kind":"compacted","upto":21,"changes":[{"type":"drop","sources":[10],"reason":"by hand","step":"memory.retract"}]}');
INSERT INTO "records" VALUES(1,23,'decided',NULL,NULL,NULL,NULL,NULL,NULL,16.0,'{"v":1,"rec":23,"at":16.0,"kind":"reverted","of":13}');
INSERT INTO "records" VALUES(1,24,'appended',14,NULL,0,14,14,14,16.0,'{"v":1,"rec":24,"at":16.0,"kind":"appended","seq":14,"message":{"role":"user","parts":["q4"]}}');
INSERT INTO "records" VALUES(1,25,'decided',NULL,NULL,NULL,NULL,NULL,NULL,17.0,'{"v":1,"rec":25,"at":17.0,"kind":"reverted","of":22}');
INSERT INTO "records" VALUES(1,26,'appended',15,NULL,0,15,14,14,17.0,'{"v":1,"rec":26,"at":17.0,"kind":"appended","seq":15,"message":{"role":"assistant","parts":["done"],"metadata":"{\"n\":1}"}}');
INSERT INTO "records" VALUES(2,1,'appended',1,'m1',0,1,1,1,99.0,'{"v":1,"rec":1,"at":99.0,"kind":"appended","seq":1,"message":{"role":"user","parts":["hi"],"id":"m1"}}');
CREATE TABLE states (
  thread INTEGER NOT NULL,
  part TEXT NOT NULL,
  body TEXT NOT NULL,
  PRIMARY KEY (thread, part)
);
INSERT INTO "states" VALUES(1,'pins','{"hand":[[11,12]],"role":[1],"guarded":[1,[3,6],8,[11,13]]}');
INSERT INTO "states" VALUES(1,'view','{"decided":25,"decided_seq":14,"gone":[[[[3,4]],9,"Window(2)","old"],[[8],9,"Window(2)","answers a call that left"]],"late":[[8,[3],true]],"undone":[["Summarize()",[2,[5,6]]],["",[9]],["memory.retract",[10]]],"reopened":[[8,2],[2,2],[10,10]],"born":1.0}');
INSERT INTO "states" VALUES(1,'notes','{"notes":[{"kind":"answer","key":"s","value":"\"old\""},{"kind":"cut","key":"Window(2)","value":"{\"first\":5}"}]}');
INSERT INTO "states" VALUES(2,'view','{"born":99.0}');
CREATE TABLE threads (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  name NOT NULL UNIQUE,
  rec INTEGER NOT NULL,
  seq INTEGER NOT NULL,
  links TEXT NOT NULL
);
INSERT INTO "threads" VALUES(1,'a',26,15,'[14,14,0,0,15,15,15,15,14,0,0,0]');
INSERT INTO "threads" VALUES(2,'b',1,1,'[1,1,1,1,0,0,0,0,0,0,0,0]');
CREATE TABLE unabridged (version INTEGER NOT NULL);
INSERT INTO "unabridged" VALUES(1);
CREATE UNIQUE INDEX entries ON records (thread, seq) WHERE seq IS NOT NULL;
CREATE INDEX message_ids ON records (thread, message_id, seq) WHERE message_id IS NOT NULL;
CREATE INDEX joins ON records (thread, seq, head) WHERE head < seq;
CREATE INDEX decisions ON records (thread, kind, rec) WHERE kind <> 'appended';
DELETE FROM "sqlite_sequence";
INSERT INTO "sqlite_sequence" VALUES('threads',2);
COMMIT;
