-- KEYS: slots of the key; ARGV: given
return redis.call('ZCOUNT', KEYS[1], '(' .. text(now_ms(ARGV[1])), '+inf')
