-- KEYS: slots of the key, days of its sessions, counters of the key, start of the slots' data
-- ARGV: given, run, lease in ms, then sessions
-- Returns: the sessions without a slot
local ms = now_ms(ARGV[1])
local slots, days = KEYS[1], KEYS[2]
local today = math.floor(ms / day_ms)
local lapsed = {}
life_of_slots(KEYS[4], ARGV[2], ms)
for i = 4, #ARGV do
  local session = ARGV[i]
  local until_ms = redis.call('ZSCORE', slots, session)
  if not until_ms or tonumber(until_ms) <= ms then
    lapsed[#lapsed + 1] = session
  else
    redis.call('ZADD', slots, text(ms + ARGV[3]), session)
    if today > tonumber(redis.call('HGET', days, session) or today) then
      local key = use_key(KEYS[3], today)
      redis.call('HINCRBY', key, 'ws_session', 1)
      redis.call('HSET', days, session, today)
      keep_use(key)
    end
  end
end
redis.call('PEXPIRE', slots, 10 * ARGV[3])
redis.call('PEXPIRE', days, 10 * ARGV[3])
return lapsed
