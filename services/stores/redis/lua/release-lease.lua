-- KEYS: the lease; ARGV: given, holder. The epoch stays, so that the next one exceeds it.
local known = redis.call('HMGET', KEYS[1], 'holder', 'until')
if known[1] == ARGV[2] and tonumber(known[2]) > now_ms(ARGV[1]) then redis.call('HSET', KEYS[1], 'until', '0') end
return 1
