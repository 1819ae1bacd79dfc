-- KEYS: the lease; ARGV: given, holder, lease in ms, an epoch that the new one must exceed
-- Returns the epoch, or nothing while another process holds the lease. An epoch is the time in microseconds, so it
-- exceeds those that an emptied Redis has forgotten. A released lease has `until` 0.
local us = now_us(ARGV[1])
local ms = math.floor(us / 1000)
local known = redis.call('HMGET', KEYS[1], 'holder', 'until', 'epoch')
local epoch = tonumber(known[3] or 0)
local is_held = known[1] == ARGV[2] and known[2] ~= '0'
-- A smaller epoch is that of a replica that took over without the newest grants.
if not is_held or epoch < tonumber(ARGV[4]) then
  local ends = tonumber(known[2] or 0)
  if not is_held and ends > ms then
    -- An end further ahead was written before the clock went back. A living holder extends the lease again.
    if ends > ms + ARGV[3] then redis.call('HSET', KEYS[1], 'until', text(ms + ARGV[3])) end
    return false
  end
  epoch = math.max(us, epoch + 1, tonumber(ARGV[4]) + 1)
end
redis.call('HSET', KEYS[1], 'holder', ARGV[2], 'until', text(ms + ARGV[3]), 'epoch', text(epoch))
redis.call('PEXPIRE', KEYS[1], day_ms)
return text(epoch)
