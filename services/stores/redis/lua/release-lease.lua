-- KEYS: the lease; ARGV: given, holder. The epoch stays, so that the next one exceeds it.
if redis.call('HGET', KEYS[1], 'holder') == ARGV[2] then redis.call('HSET', KEYS[1], 'until', '0') end
return 1
