-- KEYS: slots of the key, days of its sessions, counters of the key; ARGV: given, session
local ms = now_ms(ARGV[1])
local slots, days, session = KEYS[1], KEYS[2], ARGV[2]
local until_ms = redis.call('ZSCORE', slots, session)
if until_ms and tonumber(until_ms) > ms then
  local today = math.floor(ms / day_ms)
  if today > tonumber(redis.call('HGET', days, session) or today) then
    local key = use_key(KEYS[3], today)
    redis.call('HINCRBY', key, 'ws_session', 1)
    keep_use(key)
  end
end
redis.call('ZREM', slots, session)
redis.call('HDEL', days, session)
return 1
