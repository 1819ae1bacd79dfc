-- Takes a slot, or takes it again for a session that was counted already.
-- KEYS: slots of the key, days of its sessions, counters of the key, start of the slots' data
-- ARGV: given, run, session, cap, lease in ms, day it was counted on (empty: a new session), hold in ms
-- Returns: 1 open, 0 full, -1 not known yet; slots in use, or ms to wait
local ms = now_ms(ARGV[1])
local slots, days, session = KEYS[1], KEYS[2], ARGV[3]
local born = life_of_slots(KEYS[4], ARGV[2], ms)
local today = math.floor(ms / day_ms)

for _, lapsed in ipairs(redis.call('ZRANGEBYSCORE', slots, '-inf', text(ms))) do
  redis.call('ZREM', slots, lapsed)
  redis.call('HDEL', days, lapsed)
end
local held = redis.call('ZSCORE', slots, session)
local in_use = redis.call('ZCARD', slots)
if not held then
  -- Slots from before the data began may be in use and unknown here: their shards take them again meanwhile.
  local wait = born + ARGV[7] - ms
  if ARGV[6] == '' and wait > 0 then return { -1, wait } end
  if in_use >= tonumber(ARGV[4]) then return { 0, in_use } end
  in_use = in_use + 1
end

local key = use_key(KEYS[3], today)
local counted = held and tonumber(redis.call('HGET', days, session) or today) or tonumber(ARGV[6])
if not counted then
  redis.call('HINCRBY', key, 'ws_connect', 1)
  redis.call('HINCRBY', key, 'ws_session', 1)
  keep_use(key)
elseif today > counted then
  redis.call('HINCRBY', key, 'ws_session', 1)
  keep_use(key)
end
redis.call('HSET', days, session, math.max(today, counted or today))
redis.call('ZADD', slots, text(ms + ARGV[5]), session)
redis.call('PEXPIRE', slots, 10 * ARGV[5])
redis.call('PEXPIRE', days, 10 * ARGV[5])
return { 1, in_use }
