-- The tables. Columns hold the values that are searched or added up; a record is stored whole.
CREATE TABLE IF NOT EXISTS shipping_batch_item (
	batch     text   NOT NULL,
	key       text   NOT NULL,
	fence     bigint NOT NULL,    -- the number of the claim that may write
	until     timestamptz,        -- when the claim ends; null: released
	record    jsonb,              -- the last record
	committed numeric,            -- what it counts for against a budget
	currency  text,
	PRIMARY KEY (batch, key)
);
CREATE TABLE IF NOT EXISTS shipping_webhook (
	receiver text NOT NULL,
	id       text NOT NULL,
	claim    text,                -- who has it; null: accepted
	until    timestamptz NOT NULL, -- when it is forgotten
	PRIMARY KEY (receiver, id)
);
CREATE INDEX IF NOT EXISTS shipping_webhook_until ON shipping_webhook (until);
