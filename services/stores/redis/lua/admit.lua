-- Decides a request and counts it, in one step.
-- KEYS: counters of the key; ARGV: given, 'admit', 'poll' or 'observe', endpoint, rpm, rpd
-- Returns: exceeded (0 none, 1 minute, 2 day), minute, used_minute, day, used_day, now
local ms = now_ms(ARGV[1])
local day, minute = math.floor(ms / day_ms), math.floor(ms / minute_ms)
local key = use_key(KEYS[1], day)
-- Polls have windows of their own.
local of = ARGV[2] == 'poll' and 'poll_' or ''
-- One read and one write: the calls cost more than the decision.
local known = redis.call('HMGET', key, of .. 'minute', of .. 'used_minute', of .. 'used_day', 'requests', ARGV[3])
local counted = tonumber(known[1] or -1)
-- A clock that was set back by a moment must not reopen a window that was already counted.
if minute < counted and counted * minute_ms - ms <= minute_ms then minute = counted end
local used_minute = minute == counted and tonumber(known[2]) or 0
local used_day = tonumber(known[3] or 0)

local admits, exceeded = ARGV[2] ~= 'observe', 0
if admits then
  -- Checked first, because the day reopens no sooner than the minute.
  if used_day >= tonumber(ARGV[5]) then exceeded = 2
  elseif used_minute >= tonumber(ARGV[4]) then exceeded = 1
  end
end
if exceeded > 0 then
  redis.call('HINCRBY', key, 'rate_limited', 1)
else
  local requests, asked = (known[4] or 0) + 1, (known[5] or 0) + 1
  if admits then
    used_minute, used_day = used_minute + 1, used_day + 1
    redis.call('HSET', key, of .. 'minute', minute, of .. 'used_minute', used_minute, of .. 'used_day', used_day,
      'requests', requests, ARGV[3], asked)
  else
    redis.call('HSET', key, 'requests', requests, ARGV[3], asked)
  end
end
-- The first count of the day sets the expiry; later calls find a count of either kind.
if not (known[1] or known[4]) then keep_use(key) end
return { exceeded, minute, used_minute, day, used_day, ms }
