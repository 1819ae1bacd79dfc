-- Adds usage that was counted elsewhere: a refused upgrade, or what a pod decided by its share.
-- KEYS: counters of the key
-- ARGV: given, day (empty: today), requests admitted on the day, minute, requests admitted in the minute,
-- then counter, number, …
local ms = now_ms(ARGV[1])
local today = math.floor(ms / day_ms)
local day = ARGV[2] == '' and today or tonumber(ARGV[2])
-- Ignores days that are no longer kept.
if day < today - 2 then return 0 end
local key = use_key(KEYS[1], day)
if tonumber(ARGV[3]) > 0 then redis.call('HINCRBY', key, 'used_day', ARGV[3]) end
if tonumber(ARGV[5]) > 0 then
  local counted = tonumber(redis.call('HGET', key, 'minute') or -1)
  local minute = tonumber(ARGV[4])
  if minute == counted then
    redis.call('HINCRBY', key, 'used_minute', ARGV[5])
  elseif minute > counted then
    redis.call('HSET', key, 'minute', minute, 'used_minute', ARGV[5])
  end
end
for i = 6, #ARGV, 2 do redis.call('HINCRBY', key, ARGV[i], ARGV[i + 1]) end
keep_use(key)
return 1
