import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { bitcoinMinutes, exportText, fold, minutes } from './client/bars.ts'
import { feedNow, minutesAgo, utcNow } from './client/clocks.ts'
import { barsOf, readHistory } from './client/history.ts'
import { read } from './client/http.ts'
import { FollowedFile, importFile } from './client/input.ts'
import { everyFeed, issueKey } from './client/keys.ts'
import { until } from './client/until.ts'

interface FeedStatus {
  status: string
  last_candle_time?: number
  last_candle_age_seconds?: number
  last_heartbeat_age_seconds?: number
  liveness_source: string
  clock_offset_seconds?: number
  clock_offset_age_seconds?: number
  symbol_count: number
  clock_note?: string
}
interface Status {
  status: string
  server_time: number
  feeds: Record<string, FeedStatus>
}

const folder = mkdtempSync(join(tmpdir(), 'fxd-status-'))
afterAll(() => rmSync(folder, { recursive: true }))

let key = ''
beforeAll(async () => {
  key = (await issueKey()).key
})
const status = () => read<Status>('/v1/status', key)
const feed = async (name: string) => (await status()).feeds[name] as FeedStatus

test('the answer is status, server_time and feeds', async () => {
  const asked = utcNow()
  const body = await status()
  expect(Object.keys(body)).toEqual(['status', 'server_time', 'feeds'])
  expect(body.server_time).toBeGreaterThanOrEqual(asked)
  expect(body.server_time).toBeLessThanOrEqual(utcNow())
  expect(Number.isInteger(body.server_time)).toBe(true)
})

test('the answer covers the granted feeds and no other', async () => {
  expect(Object.keys((await status()).feeds)).toEqual([...everyFeed].sort())
  const narrow = await issueKey({ feeds: ['BROKERC:TADIL'] })
  const body = await read<Status>('/v1/status', narrow.key)
  expect(Object.keys(body.feeds)).toEqual(['BROKERC:TADIL'])
})

test('closed markets and silent feeds alone never degrade the platform', async () => {
  // A store that is slow for a moment degrades it, too.
  const body = await until('an ok platform', async () => {
    const now = await status()
    return now.status === 'ok' && now
  })
  expect(body.feeds['BROKERD:LIVE']?.status).toBe('offline')
  expect(body.feeds['BROKERC:TADIL']?.status).toBe('offline')
})

test("a feed's fields come in the order of the specification", async () => {
  const order = [
    'status',
    'last_candle_time',
    'last_candle_age_seconds',
    'last_heartbeat_age_seconds',
    'liveness_source',
    'clock_offset_seconds',
    'clock_offset_age_seconds',
    'symbol_count',
    'clock_note',
  ]
  for (const each of Object.values((await status()).feeds)) {
    const fields = Object.keys(each)
    expect(fields).toEqual(order.filter((field) => fields.includes(field)))
    expect(fields).toEqual(expect.arrayContaining(['status', 'liveness_source', 'symbol_count']))
  }
})

test('every number of a feed is an integer', async () => {
  for (const each of Object.values((await status()).feeds)) {
    for (const value of Object.values(each)) {
      if (typeof value === 'number') expect(Number.isInteger(value)).toBe(true)
    }
  }
})

test('symbol_count is the number of symbols that the feed lists', async () => {
  const { symbols } = await read<{ symbols: { feed: string }[] }>('/v1/symbols?limit=1000', key)
  for (const [name, each] of Object.entries((await status()).feeds)) {
    expect(each.symbol_count).toBe(symbols.filter((symbol) => symbol.feed === name).length)
  }
})

describe('liveness', () => {
  test('a feed that never stored a bar is offline, its source is none and it has no times', async () => {
    const fields = await feed('BROKERD:LIVE')
    expect(fields).toMatchObject({ status: 'offline', liveness_source: 'none' })
    expect(fields).not.toHaveProperty('last_candle_time')
    expect(fields).not.toHaveProperty('last_candle_age_seconds')
    expect(fields).not.toHaveProperty('last_heartbeat_age_seconds')
  })

  test('a feed whose collector reports heartbeats is live, and its source is heartbeat', async () => {
    const fields = await until('a heartbeat', async () => {
      const now = await feed('BROKERG:SIM')
      return now.liveness_source === 'heartbeat' && now
    })
    expect(fields.status).toBe('live')
    expect(fields.last_heartbeat_age_seconds).toBeGreaterThanOrEqual(0)
    expect(fields.last_heartbeat_age_seconds).toBeLessThan(300)
  })

  test('only a feed whose collector reports heartbeats has a heartbeat age', async () => {
    for (const [name, each] of Object.entries((await status()).feeds)) {
      expect('last_heartbeat_age_seconds' in each, name).toBe(each.liveness_source === 'heartbeat')
    }
  })

  test('a bar received live makes its feed live with the source candle; its age counts from the receipt', async () => {
    const bars = minutes(minutesAgo('BROKERB:LIVE', 12), 4, 8000, 1)
    const file = new FollowedFile('brokerb-live', 'UK100_M1.csv')
    file.write(bars.slice(0, 3))
    const symbol = 'BROKERB:LIVE:UK100'
    const stored = async () =>
      barsOf(await readHistory(key, { symbol, resolution: '1', countback: 10 })).length
    await until('the first bars', async () => (await stored()) === 3)
    file.append(...bars.slice(3))
    await until('the appended bar', async () => (await stored()) === 4)
    const fields = await feed('BROKERB:LIVE')
    expect(fields).toMatchObject({ status: 'live', liveness_source: 'candle' })
    expect(fields.last_candle_age_seconds).toBeLessThan(60)
    expect(fields.last_candle_time).toBeGreaterThanOrEqual(bars[3]?.time ?? 0)
  })

  test('an import does not make a feed live', async () => {
    const bars = minutes(Math.floor(utcNow() / 60) * 60 - 1800, 20, 1.1, 5)
    const file = join(folder, 'import.csv')
    writeFileSync(file, exportText(bars))
    const done = await importFile(file, { feed: 'BROKERF:LIVE', symbol: 'EURUSD', resolution: '1' })
    expect(done.code, done.stderr).toBe(0)
    expect((await feed('BROKERF:LIVE')).status).toBe('offline')
  })

  test('without a live receipt the candle age is computed from the newest stored bar on the feed clock', async () => {
    const fields = await feed('BROKERC:TADIL')
    const newest = fold(bitcoinMinutes(), 3600).at(-1)?.time ?? 0
    expect(fields.liveness_source).toBe('candle')
    expect(fields.last_candle_time).toBeGreaterThanOrEqual(newest)
    const end = (fields.last_candle_time ?? 0) + 86_400
    expect(fields.last_candle_age_seconds).toBeGreaterThan(feedNow('BROKERC:TADIL') - end - 60)
    expect(fields.last_candle_age_seconds).toBeLessThan(
      feedNow('BROKERC:TADIL') - (fields.last_candle_time ?? 0),
    )
  })
})

describe('clocks', () => {
  test('the offset is what must be added to a feed time to get real UTC', async () => {
    expect((await feed('BROKERA:ZERO')).clock_offset_seconds).toBe(-10_800)
    expect((await feed('BROKERC:TADIL')).clock_offset_seconds).toBe(4018 * 86_400)
  })

  test('a feed on true UTC has an explicit offset of 0', async () => {
    for (const name of ['BROKERB:LIVE', 'BROKERD:LIVE', 'BROKERE:LIVE']) {
      expect(await feed(name)).toHaveProperty('clock_offset_seconds', 0)
    }
  })

  test('an unknown clock has no offset', async () => {
    const fields = await feed('BROKERF:LIVE')
    expect(fields).not.toHaveProperty('clock_offset_seconds')
    expect(fields).not.toHaveProperty('clock_offset_age_seconds')
  })

  test('only feeds more than a day from UTC have a clock note', async () => {
    for (const [name, each] of Object.entries((await status()).feeds)) {
      expect('clock_note' in each, name).toBe(name.startsWith('BROKERC:'))
    }
    expect((await feed('BROKERC:TADIL')).clock_note).toMatch(/server_time/)
  })

  test('a UTC window that is converted by the offset returns the bars of that window', async () => {
    const offset = (await feed('BROKERC:TADIL')).clock_offset_seconds ?? 0
    const hours = fold(bitcoinMinutes(), 3600)
    const realFrom = (hours[5]?.time ?? 0) + offset
    const realTo = (hours[8]?.time ?? 0) + offset
    const converted = { from: realFrom - offset, to: realTo - offset }
    const got = await readHistory(key, { symbol: 'BROKERC:TADIL:BTCUSD', resolution: '60', ...converted })
    expect(barsOf(got)).toEqual(hours.slice(5, 9))
  })

  test('while a clock is unknown, only bars that a later bar closes are accepted', async () => {
    const bars = minutes(Math.floor(utcNow() / 60) * 60 - 7200, 20, 1.3, 5)
    const file = join(folder, 'unknown-clock.csv')
    writeFileSync(file, exportText(bars))
    const done = await importFile(file, { feed: 'BROKERF:LIVE', symbol: 'GBPUSD', resolution: '1' })
    expect(done.code, done.stderr).toBe(0)
    const got = await readHistory(key, { symbol: 'BROKERF:LIVE:GBPUSD', resolution: '1', from: 0, to: 4e9 })
    expect(barsOf(got)).toEqual(bars.slice(0, -1))
  })
})
