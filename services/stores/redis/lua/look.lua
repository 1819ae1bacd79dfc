-- Returns the positions of the streams, and whether a reader's next event exists.
-- KEYS: tops, starts, life; ARGV: given, run, prefix of the streams, then name, last position read, …
-- Returns per stream: name, position before its first event, newest position, 1 when there is an event to read
local ms = now_ms(ARGV[1])
local _, is_new = life_of(KEYS[3], ARGV[2], ms)
if is_new then jump_all(KEYS[1], ms) end
local read = {}
for i = 4, #ARGV, 2 do
  local stream = ARGV[i]
  read[stream] = ARGV[i + 1]
  -- Redis was emptied: the events up to this position are lost. Nothing is written while nothing changes: a primary
  -- that refuses writes must not refuse a check.
  if not redis.call('HGET', KEYS[1], stream) then
    redis.call('HSET', KEYS[1], stream, text(ms * 1000))
    redis.call('HSET', KEYS[2], stream, text(ms * 1000))
  end
  -- Redis was emptied and its clock is behind the one that made the position: move ahead of every reader.
  if tonumber(redis.call('HGET', KEYS[1], stream)) < tonumber(ARGV[i + 1]) then
    redis.call('HSET', KEYS[1], stream, text(ARGV[i + 1] + 1000000))
  end
end
local streams = {}
local tops = redis.call('HGETALL', KEYS[1])
for i = 1, #tops, 2 do
  local stream = tops[i]
  local more = 0
  -- Names or deletes a stream with a wrong type: a read of several streams fails without its name.
  redis.call('XLEN', ARGV[3] .. stream)
  if read[stream] then more = #redis.call('XRANGE', ARGV[3] .. stream, '(' .. read[stream] .. '-0', '+', 'COUNT', 1) end
  streams[#streams + 1] = { stream, redis.call('HGET', KEYS[2], stream) or tops[i + 1], tops[i + 1], more }
end
return streams
