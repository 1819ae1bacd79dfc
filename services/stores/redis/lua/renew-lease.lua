-- KEYS: the lease; ARGV: given, holder, lease in ms, epoch of a holder that knows its lease to last (else empty)
local ms = now_ms(ARGV[1])
local known = redis.call('HMGET', KEYS[1], 'holder', 'until')
if not known[1] and ARGV[4] ~= '' then
  -- This Redis was emptied, and nobody else can have been granted it since.
  redis.call('HSET', KEYS[1], 'holder', ARGV[2], 'epoch', ARGV[4])
elseif known[1] ~= ARGV[2] or tonumber(known[2]) <= ms then
  return 0
end
redis.call('HSET', KEYS[1], 'until', text(ms + ARGV[3]))
redis.call('PEXPIRE', KEYS[1], day_ms)
return 1
