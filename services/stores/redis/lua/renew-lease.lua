-- An expired lease stays with its holder until another process gets it. So no process loses its lease because Redis
-- stood still or was emptied. Of two holders the one granted later leads, whichever renews first.
-- KEYS: the lease; ARGV: given, holder, lease in ms, epoch of a holder that was granted it (else empty)
local ms = now_ms(ARGV[1])
local known = redis.call('HMGET', KEYS[1], 'holder', 'until', 'epoch')
if ARGV[4] ~= '' and tonumber(known[3] or 0) < tonumber(ARGV[4]) then
  redis.call('HSET', KEYS[1], 'holder', ARGV[2], 'epoch', ARGV[4])
elseif known[1] ~= ARGV[2] or known[2] == '0' then
  return 0
end
redis.call('HSET', KEYS[1], 'until', text(ms + ARGV[3]))
redis.call('PEXPIRE', KEYS[1], day_ms)
return 1
