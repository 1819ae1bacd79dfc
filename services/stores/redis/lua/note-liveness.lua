-- KEYS: liveness fields of the feed; ARGV: maximum lead in ms, then field, value, …
-- A field only increases, with one exception: a stored receipt or heartbeat that is ahead of the new one by more than
-- the maximum lead is replaced, because its clock was wrong.
local is_utc = { receivedAt = true, heartbeatAt = true }
for i = 2, #ARGV, 2 do
  local field, noted = ARGV[i], tonumber(ARGV[i + 1])
  local known = tonumber(redis.call('HGET', KEYS[1], field) or -math.huge)
  if known < noted or (is_utc[field] and known - noted > tonumber(ARGV[1])) then
    redis.call('HSET', KEYS[1], field, ARGV[i + 1])
  end
end
return 1
