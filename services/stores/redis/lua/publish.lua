-- Publishes one event of a stream: a feed's, or the registry's. Positions count a stream's events. When the data of the
-- bus begins again, positions jump to a number derived from the time, so that they exceed all lost positions. A newer
-- publisher, and one that dropped events before this one, leaves one position out: readers then check.
-- KEYS: stream, tops, starts, epochs, bytes, life, news
-- ARGV: given, run, name of the stream, epoch (empty: not fenced), event, bytes at most, ms at most,
--       1 if events before it were dropped
-- Returns: the position, or nothing to a publisher whose epoch is not the newest
local ms = now_ms(ARGV[1])
local stream, tops, name, event = KEYS[1], KEYS[2], ARGV[3], ARGV[5]
local step = tonumber(ARGV[8]) + 1
if ARGV[4] ~= '' then
  local newest = redis.call('HGET', KEYS[4], name)
  if newest and tonumber(newest) > tonumber(ARGV[4]) then return false end
  -- The last leader may have ended between a commit and its event.
  if newest and tonumber(newest) < tonumber(ARGV[4]) then step = 2 end
  redis.call('HSET', KEYS[4], name, ARGV[4])
end
local _, is_new = life_of(KEYS[6], ARGV[2], ms)
if is_new then jump_all(tops, ms) end

-- Deletes it if its type is wrong, since readers of it cannot.
redis.call('XLEN', KEYS[7])
local top = tonumber(redis.call('HGET', tops, name) or 0)
if top == 0 then
  top = ms * 1000
  redis.call('HSET', KEYS[3], name, text(top))
  redis.call('XADD', KEYS[7], 'MAXLEN', '~', 1000, '*', 'lane', name, 'start', text(top))
end
local position = top + step
redis.call('XADD', stream, text(position) .. '-0', 'event', event, 'ms', text(ms))
redis.call('HSET', tops, name, text(position))
if redis.call('XLEN', stream) == 1 then redis.call('HSET', KEYS[5], name, 0) end
local held = redis.call('HINCRBY', KEYS[5], name, #event)

for _ = 1, 32 do
  local oldest = redis.call('XRANGE', stream, '-', '+', 'COUNT', 1)[1]
  local fields = oldest[2]
  if held <= tonumber(ARGV[6]) and ms - tonumber(fields[4]) <= tonumber(ARGV[7]) then break end
  if oldest[1] == text(position) .. '-0' then break end
  redis.call('XDEL', stream, oldest[1])
  held = redis.call('HINCRBY', KEYS[5], name, -#fields[2])
end
redis.call('PEXPIRE', stream, 2 * ARGV[7])
return text(position)
