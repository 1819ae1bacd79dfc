import { setTimeout as pause } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  aBar,
  aFeed,
  aKey,
  aSymbol,
  openRestFixture,
  type RestFixture,
} from '../../../../test/support/fixtures/rest-fixture.ts'
import { feedSeconds, utcMs } from '../../../core/clocks/feed-clock.ts'
import { Unavailable } from '../../../core/failure.ts'
import { feedKey } from '../../../core/feeds/compound-key.ts'
import { clockReadingId } from '../../../core/registry/clock-history.ts'
import type { Stores } from '../../../ports/stores.ts'

const noon = Date.UTC(2026, 0, 5, 12) / 1000
const tadilOffset = 4018 * 86_400

let edge: RestFixture
/** The unavailable dependencies, and how they fail. */
let outage: Partial<Record<'bars' | 'board', 'refusing' | 'silent' | 'slow'>> = {}

const takenAway = (stores: Stores): Stores => {
  const through = <T extends object>(part: 'bars' | 'board', port: T): T =>
    new Proxy(port, {
      get(target, name) {
        const method = Reflect.get(target, name) as (...args: unknown[]) => unknown
        return (...args: unknown[]) => {
          if (outage[part] === 'refusing') return Promise.reject(new Unavailable(part))
          if (outage[part] === 'slow')
            return name === 'ping' ? Promise.resolve() : new Promise(() => undefined)
          if (outage[part] === 'silent') return new Promise(() => undefined)
          return method.apply(target, args)
        }
      },
    })
  return { ...stores, bars: through('bars', stores.bars), board: through('board', stores.board) }
}

beforeAll(async () => {
  edge = await openRestFixture({ start: noon * 1000, around: takenAway })
  await edge.register(
    aFeed('BROKERA', 'ZERO', { clock: { mode: 'Fixed', offsetSeconds: -10_800 }, liveness: 'heartbeat' }),
    aFeed('BROKERB', 'LIVE'),
    aFeed('BROKERC', 'TADIL', { clock: { mode: 'Fixed', offsetSeconds: tadilOffset } }),
    aFeed('BROKERD', 'LIVE'),
    aFeed('BROKERF', 'LIVE', { clock: { mode: 'Measured' } }),
    aFeed('BROKERX', 'HIDDEN'),
    aKey(1, ['BROKERA:ZERO', 'BROKERB:LIVE', 'BROKERC:TADIL', 'BROKERD:LIVE', 'BROKERF:LIVE']),
    aSymbol('BROKERA:ZERO:EURUSD'),
    aSymbol('BROKERA:ZERO:GBPUSD'),
    aSymbol('BROKERA:ZERO:GONE', { hidden: true }),
    aSymbol('BROKERC:TADIL:EURUSD'),
    aSymbol('BROKERF:LIVE:EURUSD'),
  )
  await edge.stores.board.note(feedKey('BROKERA', 'ZERO'), {
    receivedAt: utcMs((noon - 400) * 1000),
    newestBar: feedSeconds(noon + 10_800 - 460),
    heartbeatAt: utcMs((noon - 10) * 1000),
  })
  await edge.stores.board.note(feedKey('BROKERB', 'LIVE'), {
    receivedAt: utcMs((noon - 300) * 1000),
    newestBar: feedSeconds(noon - 360),
  })
  await edge.store('BROKERC:TADIL:EURUSD', '60', [aBar(noon - tadilOffset - 7_200)])
  await edge.store('BROKERC:TADIL:EURUSD', '1D', [aBar(noon - tadilOffset - 90_000)])
  await edge.store('BROKERF:LIVE:EURUSD', '1', [aBar(noon - 600)])
})
afterAll(() => edge.close())

const status = () => edge.ask('/v1/status', { key: 1 })

describe('GET /v1/status', () => {
  test('has status, server_time and the granted feeds, each in the order of the specification', async () => {
    const { text } = await status()
    const note = (text.match(/"clock_note":"[^"]+"/) ?? [''])[0]
    expect(note).toContain('4018 days')
    expect(text).toBe(
      `{"status":"ok","server_time":${noon},"feeds":{` +
        `"BROKERA:ZERO":{"status":"live","last_candle_time":${noon + 10_340},"last_candle_age_seconds":400,` +
        '"last_heartbeat_age_seconds":10,"liveness_source":"heartbeat","clock_offset_seconds":-10800,"symbol_count":2},' +
        `"BROKERB:LIVE":{"status":"stale","last_candle_time":${noon - 360},"last_candle_age_seconds":300,` +
        '"liveness_source":"candle","clock_offset_seconds":0,"symbol_count":0},' +
        `"BROKERC:TADIL":{"status":"offline","last_candle_time":${noon - tadilOffset - 7_200},` +
        '"last_candle_age_seconds":3600,"liveness_source":"candle",' +
        `"clock_offset_seconds":${tadilOffset},"symbol_count":1,${note}},` +
        '"BROKERD:LIVE":{"status":"offline","liveness_source":"none","clock_offset_seconds":0,"symbol_count":0},' +
        `"BROKERF:LIVE":{"status":"offline","last_candle_time":${noon - 600},"liveness_source":"candle",` +
        '"symbol_count":1}}}',
    )
  })

  test('ages grow with the clock, and without heartbeats the feed is degraded', async () => {
    await edge.clock.advance(1_790_001)
    const stale = (await status()).body
    expect(stale.feeds['BROKERA:ZERO']).toMatchObject({ status: 'stale', last_heartbeat_age_seconds: 1_800 })
    expect(stale.status).toBe('ok')
    await edge.clock.advance(1_000)
    const offline = (await status()).body
    expect(offline.feeds['BROKERA:ZERO']).toMatchObject({
      status: 'offline',
      last_heartbeat_age_seconds: 1_801,
    })
    expect(offline.status).toBe('degraded')
    await edge.stores.board.note(feedKey('BROKERA', 'ZERO'), { heartbeatAt: edge.clock.utcMs() })
    expect((await status()).body.status).toBe('ok')
  })

  test.each([{ bars: 'refusing' }, { board: 'refusing' }] as const)(
    'with %j it answers degraded, with the last known values',
    async (gone) => {
      const before = (await status()).body
      outage = gone
      const { body } = await status()
      outage = {}
      expect(body).toEqual({ ...before, status: 'degraded' })
    },
  )

  test('a measured clock is shown with the age of its measurement', async () => {
    const feed = feedKey('BROKERF', 'LIVE')
    const { registry } = edge.stores
    const now = edge.clock.utcMs()
    const body = { feed, source: 'Measured' as const, offsetSeconds: -7_200, since: now, measuredAt: now }
    const version = (await registry.since(0)).at(-1)?.version ?? 0
    await registry.append(version, [{ kind: 'clock', id: clockReadingId(body), body }])
    await edge.clock.advance(60_000)
    await expect
      .poll(async () => (await status()).body.feeds[feed], { timeout: 10_000 })
      .toMatchObject({ clock_offset_seconds: -7_200, clock_offset_age_seconds: 60 })
  })

  /** The answer, while the clock advances. */
  const statusMeanwhile = async (): Promise<Awaited<ReturnType<typeof status>>> => {
    const answer = status()
    let settled: Awaited<typeof answer> | undefined
    void answer.then((each) => (settled = each))
    while (!settled) {
      await edge.clock.advance(50)
      // A ping of the store runs in a real thread.
      await pause(5)
    }
    return settled
  }

  test('a store that does not answer delays the answer by a second', async () => {
    outage = { bars: 'silent' }
    const before = edge.clock.utcMs()
    const { body } = await statusMeanwhile()
    outage = {}
    // Without the deadline there would be no answer.
    expect(edge.clock.utcMs() - before).toBeGreaterThanOrEqual(1_000)
    expect(body.status).toBe('degraded')
  })

  test('a slow read of a silent feed’s newest bar is no outage while the store answers its ping', async () => {
    const before = (await statusMeanwhile()).body
    outage = { bars: 'slow' }
    const { body } = await statusMeanwhile()
    outage = {}
    expect(body.status).toBe('ok')
    expect(body.feeds['BROKERC:TADIL']).toHaveProperty('last_candle_time', noon - tadilOffset - 7_200)
    expect(Object.keys(body.feeds)).toEqual(Object.keys(before.feeds))
  })
})
