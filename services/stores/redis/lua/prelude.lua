-- Before each script. `given` is the caller's time in milliseconds in a house on a virtual clock, else empty.
local day_ms, minute_ms = 86400000, 60000

local function now_us(given)
  if given ~= '' then return tonumber(given) * 1000 end
  local time = redis.call('TIME')
  return time[1] * 1000000 + time[2]
end

local function now_ms(given) return math.floor(now_us(given) / 1000) end

-- All digits: Lua alone writes 14 of them.
local function text(number) return string.format('%.0f', number) end

-- A key's counters of one UTC day, numbered since 1970; kept for three days.
local function use_key(prefix, day) return prefix .. text(day) end

local function keep_use(key) redis.call('PEXPIRE', key, 4 * day_ms, 'NX') end

-- When the life of what this Redis holds began, and whether with this call: another life begins with
-- another process (a restart, a failover) and when it was emptied, for then something may be lost.
local function life_of(key, run, ms)
  local known = redis.call('HMGET', key, 'run', 'born')
  if known[1] == run then return tonumber(known[2]), false end
  redis.call('HSET', key, 'run', run, 'born', text(ms))
  return ms, true
end

-- The life of the slots begins again also when Redis was out of everybody's reach: every process asks it something
-- each second, so its slots lapsed unseen (it stood still, the network was cut) or its clock was set.
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

-- What a failover lost of the lanes' newest events is behind these positions.
local function jump_all(tops, ms)
  local all = redis.call('HGETALL', tops)
  for i = 1, #all, 2 do
    redis.call('HSET', tops, all[i], text(math.max(tonumber(all[i + 1]) + 1, ms * 1000)))
  end
end
