BEGIN TRANSACTION;
CREATE TABLE river_client (
    id text PRIMARY KEY NOT NULL,
    created_at timestamp NOT NULL DEFAULT CURRENT_TIMESTAMP,
    metadata blob NOT NULL DEFAULT (json('{}')),
    paused_at timestamp,
    updated_at timestamp NOT NULL,
    CONSTRAINT name_length CHECK (length(id) > 0 AND length(id) < 128)
);
CREATE TABLE river_client_queue (
    river_client_id text NOT NULL REFERENCES river_client (id) ON DELETE CASCADE,
    name text NOT NULL,
    created_at timestamp NOT NULL DEFAULT CURRENT_TIMESTAMP,
    max_workers integer NOT NULL DEFAULT 0,
    metadata blob NOT NULL DEFAULT (json('{}')),
    num_jobs_completed integer NOT NULL DEFAULT 0,
    num_jobs_running integer NOT NULL DEFAULT 0,
    updated_at timestamp NOT NULL,
    PRIMARY KEY (river_client_id, name),
    CONSTRAINT name_length CHECK (length(name) > 0 AND length(name) < 128),
    CONSTRAINT num_jobs_completed_zero_or_positive CHECK (num_jobs_completed >= 0),
    CONSTRAINT num_jobs_running_zero_or_positive CHECK (num_jobs_running >= 0)
);
CREATE TABLE river_job (
    id integer PRIMARY KEY, -- SQLite makes this autoincrementing automatically
    args blob NOT NULL DEFAULT '{}',
    attempt integer NOT NULL DEFAULT 0,
    attempted_at timestamp,
    attempted_by blob, -- json
    created_at timestamp NOT NULL DEFAULT CURRENT_TIMESTAMP,
    errors blob, -- json
    finalized_at timestamp,
    kind text NOT NULL,
    max_attempts integer NOT NULL,
    metadata blob NOT NULL DEFAULT (json('{}')),
    priority integer NOT NULL DEFAULT 1,
    queue text NOT NULL DEFAULT 'default',
    state text NOT NULL DEFAULT 'available',
    scheduled_at timestamp NOT NULL DEFAULT CURRENT_TIMESTAMP,
    tags blob NOT NULL DEFAULT (json('[]')),
    unique_key blob,
    unique_states integer,
    CONSTRAINT finalized_or_finalized_at_null CHECK (
        (finalized_at IS NULL AND state NOT IN ('cancelled', 'completed', 'discarded')) OR
        (finalized_at IS NOT NULL AND state IN ('cancelled', 'completed', 'discarded'))
    ),
    CONSTRAINT priority_in_range CHECK (priority >= 1 AND priority <= 4),
    CONSTRAINT queue_length CHECK (length(queue) > 0 AND length(queue) < 128),
    CONSTRAINT kind_length CHECK (length(kind) > 0 AND length(kind) < 128),
    CONSTRAINT state_valid CHECK (state IN ('available', 'cancelled', 'completed', 'discarded', 'pending', 'retryable', 'running', 'scheduled'))
);
INSERT INTO "river_job" VALUES(1,X'7B22636C61696D223A343736363931393030353930343938352C22696473223A5B226164346265663566326464326633346633343337303030356166376238353966225D7D',0,NULL,NULL,'2026-11-22 16:23:46.939',NULL,NULL,'sitelink_verify',32767,'{}',1,'sitelink','available','2026-11-22 16:23:46.939','[]',NULL,NULL);
CREATE TABLE river_leader (
    elected_at timestamp NOT NULL,
    expires_at timestamp NOT NULL,
    leader_id text NOT NULL,
    name text PRIMARY KEY NOT NULL DEFAULT 'default' CHECK (name = 'default'),
    CONSTRAINT name_length CHECK (length(name) > 0 AND length(name) < 128),
    CONSTRAINT leader_id_length CHECK (length(leader_id) > 0 AND length(leader_id) < 128)
);
CREATE TABLE river_migration (
    line text NOT NULL,
    version integer NOT NULL,
    created_at timestamp NOT NULL DEFAULT CURRENT_TIMESTAMP,
    CONSTRAINT line_length CHECK (length(line) > 0 AND length(line) < 128),
    CONSTRAINT version_gte_1 CHECK (version >= 1),
    PRIMARY KEY (line, version)
);
INSERT INTO "river_migration" VALUES('main',1,'2026-11-22 16:23:46');
INSERT INTO "river_migration" VALUES('main',2,'2026-11-22 16:23:46');
INSERT INTO "river_migration" VALUES('main',3,'2026-11-22 16:23:46');
INSERT INTO "river_migration" VALUES('main',4,'2026-11-22 16:23:46');
INSERT INTO "river_migration" VALUES('main',5,'2026-11-22 16:23:46');
INSERT INTO "river_migration" VALUES('main',6,'2026-11-22 16:23:46');
CREATE TABLE river_queue (
    name text PRIMARY KEY NOT NULL,
    created_at timestamp NOT NULL DEFAULT CURRENT_TIMESTAMP,
    metadata blob NOT NULL DEFAULT (json('{}')),
    paused_at timestamp,
    updated_at timestamp NOT NULL
);
CREATE TABLE sitelink_mention (
	id BLOB NOT NULL PRIMARY KEY, action TEXT NOT NULL, protocol TEXT NOT NULL,
	source TEXT NOT NULL, target TEXT NOT NULL, source_sent TEXT NOT NULL, target_sent TEXT NOT NULL,
	source_host TEXT NOT NULL, replacement TEXT NOT NULL, state TEXT NOT NULL,
	title TEXT NOT NULL, excerpt TEXT NOT NULL, lang TEXT NOT NULL, author_name TEXT NOT NULL, author_url TEXT NOT NULL,
	fault INTEGER NOT NULL, reason TEXT NOT NULL, received BIGINT NOT NULL, verified BIGINT NOT NULL,
	subscribed INTEGER NOT NULL, peer TEXT NOT NULL, due BIGINT NOT NULL, fetched BIGINT NOT NULL, failures INTEGER NOT NULL,
	claim BIGINT NOT NULL, looks INTEGER NOT NULL, tries INTEGER NOT NULL);
INSERT INTO "sitelink_mention" VALUES(X'AD4BEF5F2DD2F34F34370005AF7B859F','link','webmention','https://s0.example/0','https://our.example/page','','','s0.example','','queued','','','','','',0,'',1795341600123456,0,0,'192.0.2.1',1795341600123456,0,0,4766919005904985,0,0);
INSERT INTO "sitelink_mention" VALUES(X'070D810464B2FCCA0252EAC30ECC4A85','link','webmention','https://s1.example/1','https://our.example/page','','','s1.example','','approved','A title','An excerpt','en','Ann','https://ann.example/',0,'',1795341600123456,1795341601123456,0,'192.0.2.1',1797933600123456,1795341601123456,0,0,0,0);
INSERT INTO "sitelink_mention" VALUES(X'0669606C208C054F3033692CEA800BE9','link','webmention','https://s2.example/2','https://our.example/page','','','s2.example','','rejected','','','','','',17,'the page does not link here',1795341600123456,0,0,'192.0.2.1',0,1795341600123456,0,0,0,0);
CREATE TABLE sitelink_rule (pattern TEXT NOT NULL PRIMARY KEY, verdict TEXT NOT NULL, note TEXT NOT NULL);
INSERT INTO "sitelink_rule" VALUES('spam.example','block','spam');
CREATE TABLE sitelink_store (version INTEGER NOT NULL, secret BLOB NOT NULL, rules BIGINT NOT NULL);
INSERT INTO "sitelink_store" VALUES(1,X'A5F4D2093E0782B14CF1B6E728998F6647C839047C7E67BE121E0B30834B302F',1);
CREATE INDEX river_job_kind ON river_job (kind);
CREATE INDEX river_job_state_and_finalized_at_index ON river_job (state, finalized_at) WHERE finalized_at IS NOT NULL;
CREATE INDEX river_job_prioritized_fetching_index ON river_job (state, queue, priority, scheduled_at, id);
CREATE UNIQUE INDEX river_job_unique_idx ON river_job (unique_key)
    WHERE unique_key IS NOT NULL
        AND unique_states IS NOT NULL
        AND CASE state
            WHEN 'available' THEN unique_states & (1 << 0)
            WHEN 'cancelled' THEN unique_states & (1 << 1)
            WHEN 'completed' THEN unique_states & (1 << 2)
            WHEN 'discarded' THEN unique_states & (1 << 3)
            WHEN 'pending'   THEN unique_states & (1 << 4)
            WHEN 'retryable' THEN unique_states & (1 << 5)
            WHEN 'running'   THEN unique_states & (1 << 6)
            WHEN 'scheduled' THEN unique_states & (1 << 7)
            ELSE 0
        END >= 1;
CREATE INDEX sitelink_mention_order ON sitelink_mention (target, source, action);
CREATE INDEX sitelink_mention_state ON sitelink_mention (state);
CREATE INDEX sitelink_mention_host ON sitelink_mention (source_host) WHERE state = 'approved';
CREATE INDEX sitelink_mention_due ON sitelink_mention (due) WHERE claim = 0 AND due > 0;
COMMIT;
