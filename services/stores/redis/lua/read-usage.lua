-- KEYS: counters of the key; ARGV: given. Returns: today, then the counters of today and of the two days before.
local today = math.floor(now_ms(ARGV[1]) / day_ms)
local days = { today }
for ago = 0, 2 do days[#days + 1] = redis.call('HGETALL', use_key(KEYS[1], today - ago)) end
return days
