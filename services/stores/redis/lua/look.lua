-- Returns the positions of the lanes, and whether a reader's next event exists.
-- KEYS: tops, starts, life; ARGV: given, run, prefix of the streams, then lane, last position read, …
-- Returns per lane: lane, position before its first event, newest position, 1 when there is an event to read
local ms = now_ms(ARGV[1])
local _, is_new = life_of(KEYS[3], ARGV[2], ms)
if is_new then jump_all(KEYS[1], ms) end
local read = {}
for i = 4, #ARGV, 2 do
  local lane = ARGV[i]
  read[lane] = ARGV[i + 1]
  -- Redis was emptied: the events up to this position are lost. Nothing is written while nothing changes: a primary
  -- that refuses writes must not refuse a check.
  if not redis.call('HGET', KEYS[1], lane) then
    redis.call('HSET', KEYS[1], lane, text(ms * 1000))
    redis.call('HSET', KEYS[2], lane, text(ms * 1000))
  end
  -- Redis was emptied and its clock is behind the one that made the position: move ahead of every reader.
  if tonumber(redis.call('HGET', KEYS[1], lane)) < tonumber(ARGV[i + 1]) then
    redis.call('HSET', KEYS[1], lane, text(ARGV[i + 1] + 1000000))
  end
end
local lanes = {}
local tops = redis.call('HGETALL', KEYS[1])
for i = 1, #tops, 2 do
  local lane = tops[i]
  local more = 0
  if read[lane] then more = #redis.call('XRANGE', ARGV[3] .. lane, '(' .. read[lane] .. '-0', '+', 'COUNT', 1) end
  lanes[#lanes + 1] = { lane, redis.call('HGET', KEYS[2], lane) or tops[i + 1], tops[i + 1], more }
end
return lanes
