-- The tables. Columns hold the values that are searched or added up; a record is stored whole.
CREATE TABLE IF NOT EXISTS shipping_batch_item (
	batch     text   NOT NULL,
	key       text   NOT NULL,
	fence     bigint NOT NULL,    -- the number of the claim that may write
	until     timestamptz,        -- when the claim ends; null: released
	record    jsonb,              -- the last record
	committed numeric,            -- what it counts for against a budget
	currency  text,
	period    text NOT NULL DEFAULT '', -- of the budget
	PRIMARY KEY (batch, key)
);
ALTER TABLE shipping_batch_item ADD COLUMN IF NOT EXISTS period text NOT NULL DEFAULT '';
CREATE INDEX IF NOT EXISTS shipping_batch_source
	ON shipping_batch_item USING hash ((coalesce(record->>'shipment_id', record->>'file_hash')));
CREATE INDEX IF NOT EXISTS shipping_batch_request ON shipping_batch_item USING hash ((record->>'request_id'));
CREATE INDEX IF NOT EXISTS shipping_batch_overcharge
	ON shipping_batch_item (batch) WHERE record ? 'overcharge' AND NOT record ? 'note';
DO $migrate$ BEGIN -- the index of an earlier version
	EXECUTE format('DROP INDEX IF EXISTS %I.shipping_batch_shipment', current_schema());
END $migrate$;

-- The totals of the items of a batch, in each transaction that changes an item. Their table is created with its trigger
-- and the totals of all items at once.
DO $migrate$ BEGIN
	IF to_regclass(quote_ident(current_schema()) || '.shipping_batch_total') IS NOT NULL THEN
		RETURN;
	END IF;
	CREATE TABLE shipping_batch_total (
		batch     text    NOT NULL,
		period    text    NOT NULL,
		currency  text    NOT NULL,   -- in small letters
		committed numeric NOT NULL,
		priced    bigint  NOT NULL,   -- items that count, with a price
		unpriced  bigint  NOT NULL,   -- items whose price is not known or negative: no budget can count them
		PRIMARY KEY (batch, period, currency)
	);
	CREATE OR REPLACE FUNCTION shipping_batch_count() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $count$ BEGIN
		INSERT INTO shipping_batch_total AS total
		SELECT batch, period, lower(trim(coalesce(currency, ''))),
			sum(sign * coalesce(committed, 0)), sum(sign * (committed IS NOT NULL)::int),
			sum(sign * coalesce(committed < 0, record ? 'documents' AND record->>'step' <> 'analyzed', false)::int)
		FROM (SELECT OLD.*, -1 AS sign UNION ALL SELECT NEW.*, 1) AS change
		WHERE batch IS NOT NULL
		GROUP BY 1, 2, 3
		HAVING (sum(sign * coalesce(committed, 0)), sum(sign * (committed IS NOT NULL)::int),
			sum(sign * coalesce(committed < 0, record ? 'documents' AND record->>'step' <> 'analyzed', false)::int)) <> (0, 0, 0)
		ORDER BY 1, 2, 3
		ON CONFLICT (batch, period, currency) DO UPDATE SET committed = total.committed + excluded.committed,
			priced = total.priced + excluded.priced, unpriced = total.unpriced + excluded.unpriced;
		RETURN NULL;
	END $count$;
	DROP TRIGGER IF EXISTS shipping_batch_count ON shipping_batch_item;
	CREATE TRIGGER shipping_batch_count AFTER INSERT OR DELETE OR UPDATE OF batch, record, committed, currency, period
		ON shipping_batch_item FOR EACH ROW EXECUTE FUNCTION shipping_batch_count(); -- others wait until the totals are there
	INSERT INTO shipping_batch_total
	SELECT batch, period, lower(trim(coalesce(currency, ''))), coalesce(sum(committed), 0), count(committed),
		count(*) FILTER (WHERE coalesce(committed < 0, record ? 'documents' AND record->>'step' <> 'analyzed'))
	FROM shipping_batch_item GROUP BY 1, 2, 3;
END $migrate$;

CREATE TABLE IF NOT EXISTS shipping_webhook (
	receiver text NOT NULL,
	id       text NOT NULL,
	claim    text,                -- who has it; null: accepted
	until    timestamptz NOT NULL, -- when it is forgotten
	PRIMARY KEY (receiver, id)
);
CREATE INDEX IF NOT EXISTS shipping_webhook_until ON shipping_webhook (until);
