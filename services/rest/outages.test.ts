import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { rateHeaders } from '../../test/acceptance/client/http.ts'
import {
  type Answer,
  aBar,
  aFeed,
  aKey,
  aSymbol,
  openRestFixture,
  type RestFixture,
} from '../../test/support/fixtures/rest-fixture.ts'
import { Unavailable } from '../core/failure.ts'
import type { Stores } from '../ports/stores.ts'

type Part = 'bars' | 'windows' | 'board' | 'limits' | 'usageDays' | 'slots' | 'registry'
type Absence = 'refusing' | 'silent' | 'broken'

let edge: RestFixture
/** The number of days that the limits keep. */
const daysKept = 3
/** When a call of a silent part began; `undefined` before. */
let silentSinceMs: number | undefined
/** Parts that are unavailable, and how they fail. */
let outage: Partial<Record<Part, Absence>> = {}

/** Every call of an unavailable port fails as its contract says, hangs, or breaks the contract. */
const takenAway = (stores: Stores): Stores => {
  const through = <T extends object>(part: Part, port: T): T =>
    new Proxy(port, {
      get(target, name) {
        const member: unknown = Reflect.get(target, name)
        if (typeof member !== 'function') return name === 'daysKept' ? daysKept : member
        const method = member as (...args: unknown[]) => unknown
        return (...args: unknown[]) => {
          if (outage[part] === 'refusing')
            return Promise.reject(new Unavailable(part, new Error('inner words')))
          if (outage[part] === 'silent') {
            silentSinceMs ??= edge.clock.utcMs()
            return new Promise(() => undefined)
          }
          if (outage[part] === 'broken') throw new TypeError('inner words')
          return method.apply(target, args)
        }
      },
    })
  return {
    ...stores,
    bars: through('bars', stores.bars),
    windows: through('windows', stores.windows),
    board: through('board', stores.board),
    limits: through('limits', stores.limits),
    usageDays: through('usageDays', stores.usageDays),
    slots: through('slots', stores.slots),
    registry: through('registry', stores.registry),
  }
}

beforeAll(async () => {
  edge = await openRestFixture({ around: takenAway })
  await edge.register(aFeed('BROKERA', 'ZERO'), aSymbol('BROKERA:ZERO:EURUSD'), aKey(1, ['BROKERA:ZERO']))
  await edge.register(
    aFeed('BROKERA', 'NEW', { clock: { mode: 'Measured' } }),
    ...['EURUSD', 'GBPUSD'].map((name) => aSymbol(`BROKERA:NEW:${name}`)),
    aKey(2, ['BROKERA:NEW']),
  )
})
afterEach(() => {
  outage = {}
  silentSinceMs = undefined
})
afterAll(() => edge.close())

const stepMs = 100

/** The answer to a request during which time passes, and the time since a silent part was called. */
async function askWhileTimePasses(target: string): Promise<{ answer: Answer; ms: number }> {
  const pending = edge.ask(target, { key: 1 })
  let answer: Answer | undefined
  void pending.then((each) => (answer = each))
  while (!answer) await edge.clock.advance(stepMs)
  return { answer: await pending, ms: edge.clock.utcMs() - (silentSinceMs ?? 0) }
}

const history = '/v1/history?symbol=BROKERA:ZERO:EURUSD&resolution=1&countback=5'
const range = '/v1/history?symbol=BROKERA:ZERO:EURUSD&resolution=1&from=0&to=99999'
const half = '/v1/history?symbol=BROKERA:ZERO:EURUSD&resolution=30&countback=5'
const coverage = '/v1/coverage?symbol=BROKERA:ZERO:EURUSD'

describe('an unavailable dependency', () => {
  test.each([
    [history, 'bars'],
    [range, 'bars'],
    [half, 'bars'],
    [coverage, 'windows'],
    ['/v1/coverage', 'windows'],
    ['/v1/usage', 'slots'],
    [history, 'limits'],
    ['/v1/usage', 'limits'],
    ['/v1/usage', 'usageDays'],
    ['/v1/symbols', 'limits'],
  ] as const)('fails %s with 500 and Retry-After, never with no_data (%s)', async (target, part) => {
    outage = { [part]: 'refusing' }
    const { status, body, headers, text } = await edge.ask(target, { key: 1 })
    expect([status, body.error.code, headers['retry-after']]).toEqual([500, 'SERVER_ERROR', '2'])
    expect(text).not.toContain('inner words')
    // Without limits there are no numbers for them.
    const wanted = part === 'limits' ? [] : rateHeaders
    expect(rateHeaders.filter((name) => name.toLowerCase() in headers)).toEqual(wanted)
    expect('s' in body).toBe(target.startsWith('/v1/history'))
  })

  test.each([
    [history, 'bars'],
    [range, 'bars'],
    [coverage, 'windows'],
    ['/v1/coverage', 'windows'],
    ['/v1/usage', 'slots'],
    ['/v1/usage', 'usageDays'],
    ['/v1/symbols', 'limits'],
  ] as const)(
    'that does not answer fails %s within the deadline of two seconds (%s)',
    async (target, part) => {
      outage = { [part]: 'silent' }
      const { answer, ms } = await askWhileTimePasses(target)
      expect([answer.status, answer.body.error.code, answer.headers['retry-after']]).toEqual([
        500,
        'SERVER_ERROR',
        '2',
      ])
      // The answer needs some turns of the event loop. The clock advances by one step in each turn.
      expect(ms).toBeLessThanOrEqual(2_000 + 20 * stepMs)
    },
  )

  test('leaves requests that do not use it unaffected', async () => {
    outage = { bars: 'refusing', windows: 'refusing', board: 'refusing' }
    for (const target of ['/v1/symbols', '/v1/usage', '/v1/config', '/v1/status']) {
      expect((await edge.ask(target, { key: 1 })).status).toBe(200)
    }
  })

  test('does not fail usage requests for days that the counters have', async () => {
    outage = { usageDays: 'refusing' }
    const { status, body } = await edge.ask(`/v1/usage?days=${daysKept}`, { key: 1 })
    expect([status, body.history.length]).toEqual([200, daysKept])
  })

  test.each(['countback=5', 'from=0&to=9999'])(
    'does not fail bars of a feed whose clock is unknown (board, %s)',
    async (span) => {
      const minutes = [0, 600, 1_800, 2_400]
      await edge.store(
        'BROKERA:NEW:EURUSD',
        '1',
        minutes.map((time) => aBar(time)),
      )
      outage = { board: 'refusing' }
      for (const [resolution, times] of [
        ['1', minutes],
        ['30', [0]],
      ] as const) {
        const target = `/v1/history?symbol=BROKERA:NEW:EURUSD&resolution=${resolution}&${span}`
        const { status, body } = await edge.ask(target, { key: 2 })
        expect([status, body.t]).toEqual([200, times])
      }
    },
  )

  test.each(['countback=5', 'from=0&to=9999'])(
    'that alone knows whether the only half hour is closed fails it, never with no_data (board, %s)',
    async (span) => {
      await edge.store('BROKERA:NEW:GBPUSD', '1', [aBar(0), aBar(600)])
      const target = `/v1/history?symbol=BROKERA:NEW:GBPUSD&resolution=30&${span}`
      expect((await edge.ask(target, { key: 2 })).body.s).toBe('no_data')
      outage = { board: 'refusing' }
      const { status, headers } = await edge.ask(target, { key: 2 })
      expect([status, headers['retry-after']]).toEqual([500, '2'])
    },
  )

  test('does not fail requests for the config', async () => {
    outage = { limits: 'refusing' }
    const { status, headers } = await edge.ask('/v1/config', { key: 1 })
    expect(status).toBe(200)
    expect(headers).not.toHaveProperty('x-ratelimit-limit-minute')
    outage = { limits: 'silent' }
    expect((await askWhileTimePasses('/v1/config')).answer.status).toBe(200)
  })

  test('with a defect is 500 without Retry-After and counted, and the log has its place but not its message', async () => {
    outage = { bars: 'broken' }
    edge.logged.length = 0
    const { status, headers, text } = await edge.ask(history, { key: 1 })
    expect([status, headers['retry-after']]).toEqual([500, undefined])
    expect(text).not.toContain('inner words')
    expect(await edge.metrics()).toMatch(
      /^fxd_http_request_duration_seconds_count\{route="\/v1\/history",method="GET",status="500"\} [1-9]/m,
    )
    const line = edge.logged.find((each) => each.includes('request failed'))
    expect(JSON.parse(line ?? '')).toMatchObject({ level: 50, fault: 'TypeError' })
    expect(edge.logged.join('')).not.toContain('inner words')
  })

  test('is logged with its cause', async () => {
    outage = { bars: 'refusing' }
    edge.logged.length = 0
    await edge.ask(history, { key: 1 })
    const line = edge.logged.find((each) => each.includes('request failed'))
    expect(line).toContain('bars is unavailable: inner words')
  })

  test('does not stop requests, which use the last good registry', async () => {
    outage = { registry: 'refusing' }
    await edge.clock.advance(10_000)
    expect((await edge.ask('/v1/symbols', { key: 1 })).body.total).toBe(1)
  })
})

test('a registry that was never loaded is 500, never 401, 403, 404 or no_data', async () => {
  const unloaded = await openRestFixture({ loaded: false })
  try {
    for (const target of [history, '/v1/symbols', '/v1/status', '/v1/config']) {
      for (const asked of [{}, { key: 1 }]) {
        const { status, headers } = await unloaded.ask(target, asked)
        expect([status, headers['retry-after']]).toEqual([500, '2'])
      }
    }
    expect((await unloaded.ask('/v1/nothing')).status).toBe(404)
  } finally {
    await unloaded.close()
  }
})
