-- What the first schema of the search_path lacks of the tables in schema.sql, and whether a table or an index is missing
-- as a whole. A column of another type, such as numeric(10,2), could change what is stored, and a table without its key
-- could have two rows of an item.
WITH relation (name, key) AS (VALUES
	('shipping_batch_item', '{batch,key}'::name[]), ('shipping_batch_total', '{batch,period,currency}'), ('shipping_webhook', '{receiver,id}'), ('shipping_batch_source', NULL), ('shipping_batch_request', NULL),
	('shipping_batch_overcharge', NULL), ('shipping_webhook_until', NULL)
), present AS (
	SELECT name, key, to_regclass(quote_ident(current_schema()) || '.' || name) AS id FROM relation
), attribute (relation, name, type) AS (VALUES
	('shipping_batch_item', 'batch', 'text'), ('shipping_batch_item', 'key', 'text'), ('shipping_batch_item', 'fence', 'bigint'),
	('shipping_batch_item', 'until', 'timestamp with time zone'), ('shipping_batch_item', 'record', 'jsonb'),
	('shipping_batch_item', 'committed', 'numeric'), ('shipping_batch_item', 'currency', 'text'),
	('shipping_batch_item', 'period', 'text'), ('shipping_batch_total', 'batch', 'text'), ('shipping_batch_total', 'period', 'text'),
	('shipping_batch_total', 'currency', 'text'), ('shipping_batch_total', 'committed', 'numeric'),
	('shipping_batch_total', 'priced', 'bigint'), ('shipping_batch_total', 'unpriced', 'bigint'),
	('shipping_webhook', 'receiver', 'text'), ('shipping_webhook', 'id', 'text'), ('shipping_webhook', 'claim', 'text'),
	('shipping_webhook', 'until', 'timestamp with time zone')
), problem (text, missing) AS (
	SELECT name, true FROM present WHERE id IS NULL
	UNION ALL
	SELECT format('the column %s of %s with the type %s', attribute.name, relation, type), false
	FROM attribute JOIN present ON relation = present.name
	WHERE id IS NOT NULL AND NOT EXISTS (
		SELECT FROM pg_attribute
		WHERE attrelid = id AND attname = attribute.name AND NOT attisdropped AND format_type(atttypid, atttypmod) = type)
	UNION ALL
	SELECT 'the trigger shipping_batch_count', false
	FROM present AS total JOIN present AS item ON total.name = 'shipping_batch_total' AND item.name = 'shipping_batch_item'
	WHERE total.id IS NOT NULL AND item.id IS NOT NULL AND NOT EXISTS (
		SELECT FROM pg_trigger WHERE tgrelid = item.id AND tgname = 'shipping_batch_count' AND tgenabled <> 'D')
	UNION ALL
	SELECT format('the primary key %s of %s', key, name), false
	FROM present
	WHERE id IS NOT NULL AND key IS NOT NULL AND NOT EXISTS (
		SELECT FROM pg_constraint
		WHERE conrelid = id AND contype = 'p' AND key = ARRAY(
			SELECT attname FROM unnest(conkey) WITH ORDINALITY AS k (number, at)
			JOIN pg_attribute ON attrelid = id AND attnum = number ORDER BY at))
)
SELECT coalesce(string_agg(text, ', '), ''), coalesce(bool_or(missing), false) FROM problem
