-- Adds a pod, and counts the pods.
-- KEYS: pods, start of the slots' data; ARGV: given, pod (empty: only counts), lease in ms, run
-- Returns: pods, now
local ms = now_ms(ARGV[1])
life_of_slots(KEYS[2], ARGV[4], ms)
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', text(ms))
if ARGV[2] ~= '' then redis.call('ZADD', KEYS[1], text(ms + ARGV[3]), ARGV[2]) end
return { redis.call('ZCARD', KEYS[1]), ms }
