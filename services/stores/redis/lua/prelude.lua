-- Prepended to each script. `given` is the caller's time in milliseconds in a test with a virtual clock, else empty.
local day_ms, minute_ms = 86400000, 60000

-- Every key has the prefix of this service. One with a wrong type was written by something else: it is deleted, this
-- call fails with its name, and the next one makes it again. A user that may only read the key cannot delete it.
local server, redis = redis, {}
function redis.call(...)
  local reply = server.pcall(...)
  if type(reply) ~= 'table' or not reply.err then return reply end
  if string.sub(reply.err, 1, 9) == 'WRONGTYPE' then
    local _, key = ...
    local kind = server.pcall('TYPE', key).ok or 'unknown'
    local fate = server.pcall('PEXPIRE', key, 0) == 1 and 'deleted' or 'kept'
    error({ err = 'WRONGTYPE key=' .. key .. ' type=' .. kind .. ' ' .. fate })
  end
  error(reply)
end

local function now_us(given)
  if given ~= '' then return tonumber(given) * 1000 end
  local time = redis.call('TIME')
  return time[1] * 1000000 + time[2]
end

local function now_ms(given) return math.floor(now_us(given) / 1000) end

-- Prints all digits: Lua itself prints only 14.
local function text(number) return string.format('%.0f', number) end

-- A key's counters of one UTC day, numbered since 1970; kept for three days.
local function use_key(prefix, day) return prefix .. text(day) end

local function keep_use(key) redis.call('PEXPIRE', key, 4 * day_ms, 'NX') end

-- Returns when the data in this Redis began, and whether it began with this call. It begins again with another server
-- process (a restart, a failover) and after Redis was emptied, because data may have been lost.
local function life_of(key, run, ms)
  local known = redis.call('HMGET', key, 'run', 'born')
  if known[1] == run then return tonumber(known[2]), false end
  redis.call('HSET', key, 'run', run, 'born', text(ms))
  return ms, true
end

-- The slots' data also begins again after Redis was unreachable. Every process calls this function each second, so
-- a gap means that slots expired unnoticed (Redis stood still, the network was cut) or that the clock was set.
local out_of_reach_ms = 20000
local function life_of_slots(key, run, ms)
  local seen = tonumber(redis.call('HGET', key, 'seen') or ms)
  if math.abs(ms - seen) > out_of_reach_ms then
    redis.call('HDEL', key, 'run')
    seen = ms
  end
  local born = life_of(key, run, ms)
  redis.call('HSET', key, 'seen', text(math.max(seen, ms)))
  return born
end

-- Moves the positions ahead of all events that a failover lost: fewer than a million of each stream. The clock of this
-- Redis may be behind the clock that made the positions.
local function jump_all(tops, ms)
  local all = redis.call('HGETALL', tops)
  for i = 1, #all, 2 do
    redis.call('HSET', tops, all[i], text(math.max(tonumber(all[i + 1]) + 1000000, ms * 1000)))
  end
end
