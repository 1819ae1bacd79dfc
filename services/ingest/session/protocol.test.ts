import { setTimeout as pause } from 'node:timers/promises'
import { describe, expect, onTestFinished, test } from 'vitest'
import { seriesAt } from '../../../test/support/clients/raw-session.ts'
import { defineFeed } from '../../../test/support/fixtures/ingest-fixture.ts'
import { SessionFixture } from '../../../test/support/fixtures/session-fixture.ts'
import type { CollectorMessage } from '../../wire/gen/fxd/v1/CollectorMessage.ts'

const suite = new SessionFixture({
  more: [defineFeed({ account: 'THIRTY', resolutions: ['1', '30', '60'] })],
})

describe('sequences', () => {
  test('the first sequence is 1, and a jump is refused without an Ack until the missing sequence arrives', async () => {
    const noon = suite.minute
    const session = suite.connect()
    await session.hello(suite.feed.key)
    const send = (sequence: number, back: number): void => {
      const series = [seriesAt('EURUSD', [noon - back * 60])]
      session.send({ bars: { sequence, lane: 'LANE_LIVE', series } })
    }
    send(2, 4)
    await expect
      .poll(() => session.refused(2))
      .toMatchObject([
        {
          reason: 'REFUSAL_REASON_SEQUENCE',
          message: 'sequence: got 2, wanted 1: the first is 1, each next is one more',
        },
      ])
    send(1, 3)
    await session.answer(1)
    session.send({ window: { sequence: 3, resolution: '1', from: noon - 60, to: noon } })
    await expect
      .poll(() => session.refused(3))
      .toMatchObject([{ message: 'sequence: got 3, wanted 2: the first is 1, each next is one more' }])
    send(2, 2)
    await session.answer(2)
    send(3, 1)
    await session.answer(3)
    expect(session.received.filter(({ ack }) => ack)).toHaveLength(3)
    expect(await suite.times()).toEqual([noon - 180, noon - 120, noon - 60])
    expect(await suite.fixture.stores.windows.of(suite.feed.key)).toEqual([])
    await session.close()
  })
})

test('heartbeats that arrive before the session starts do not stop its reading', async () => {
  const lease = Promise.withResolvers<void>()
  suite.leaseGate = lease.promise
  const session = suite.connect()
  session.send({
    hello: { feed: suite.feed.key, collectorId: 'early', mode: 'SESSION_MODE_LIVE', terminal: '' },
  })
  // More than may wait: reading pauses.
  for (let i = 0; i < 200; i++) session.send({ heartbeat: { terminalConnected: true } })
  await pause(200)
  lease.resolve()
  const { minute } = suite
  // Few heartbeats are read per virtual second.
  let isOver = false
  const passing = (async () => {
    while (!isOver) {
      await suite.clock.advance(20)
      // The store answers in real time. A faster clock would reach its deadline.
      await pause(10)
    }
  })()
  onTestFinished(async () => {
    isOver = true
    await passing
  })
  await session.find(({ known }) => known?.last === true)
  await session.catalogue([], { snapshot: false })
  const { ack } = await session.bars('LIVE', [seriesAt('EURUSD', [minute - 60])])
  expect(ack.accepted).toBe(1)
  await session.close()
})

describe('before Catalogued', () => {
  test.for(['LIVE', 'IMPORT'] as const)(
    'bars and windows of a session in mode %s are refused without an Ack, and accepted after Catalogued',
    async (mode) => {
      const noon = suite.minute
      const session = suite.connect()
      await session.hello(suite.feed.key, { mode, isCatalogued: false })
      const lane = mode === 'LIVE' ? 'LANE_LIVE' : 'LANE_BACKFILL'
      const bars: CollectorMessage = {
        bars: { sequence: 1, lane, series: [seriesAt('EURUSD', [noon - 60])] },
      }
      const window: CollectorMessage = {
        window: { sequence: 2, symbol: 'EURUSD', resolution: '1', from: noon - 60, to: noon },
      }
      for (const message of [bars, window]) session.send(message)
      for (const sequence of [1, 2])
        await expect
          .poll(() => session.refused(sequence))
          .toMatchObject([
            {
              reason: 'REFUSAL_REASON_NOT_CATALOGUED',
              message: expect.stringContaining('before Catalogued') as unknown,
            },
          ])
      await session.catalogue([], { snapshot: false })
      expect(session.received.some(({ ack }) => ack)).toBe(false)
      expect(await suite.times()).toEqual([])
      for (const message of [bars, window]) session.send(message)
      await session.answer(2)
      expect(await suite.times()).toEqual([noon - 60])
      expect(await suite.fixture.stores.windows.of(suite.feed.key)).toHaveLength(1)
      await session.close()
    },
  )
})

test('Welcome lists the resolutions that may be pushed, without 30, which is never stored', async () => {
  const session = suite.connect()
  const { welcome } = await session.hello('BROKERA:THIRTY')
  expect(welcome?.resolutions).toEqual(['1', '60'])
  await session.close()
})

test('a symbol without digits is refused, and one with 0 digits is accepted', async () => {
  const session = suite.connect()
  await session.hello(suite.feed.key)
  const { names, refused } = await session.catalogue([{ raw: 'NODIGITS' }, { raw: 'WHOLE', digits: 0 }])
  expect(names).toMatchObject([{ raw: 'WHOLE', digits: 0 }])
  expect(refused).toEqual([{ raw: 'NODIGITS', reason: 'digits: got nothing, wanted 0 to 10' }])
  await session.close()
})

test('a window of 1970 is refused, because its times were not set', async () => {
  const noon = suite.minute
  const session = suite.connect()
  await session.hello(suite.feed.key)
  const windows = [
    [0, 60],
    [60, 120],
    [0, noon],
    [-60, noon],
  ] as const
  for (const [from, to] of windows) {
    const { refused } = await session.window('1', from, to)
    expect(refused).toMatchObject([
      {
        reason: 'REFUSAL_REASON_MALFORMED',
        message: `from, to: got ${from}, ${to}, a window of 1970, wanted from 1 on and to after 1970 (31536000)`,
      },
    ])
  }
  expect(await suite.fixture.stores.windows.of(suite.feed.key)).toEqual([])
  await session.close()
})

describe('the status names the fault of', () => {
  const refusal = async (message: CollectorMessage): Promise<{ code: string; details: string }> => {
    const session = suite.connect()
    session.send(message)
    return session.ended
  }
  const hello = { feed: 'BROKERA:ZERO', collectorId: 'odd', mode: 'SESSION_MODE_LIVE' } as const

  test('a message without any field', async () => {
    expect(await refusal({})).toEqual({
      code: 'INVALID_ARGUMENT',
      details:
        'CollectorMessage: no message set, wanted hello, catalogue, bars, window, gap, clock_sample or heartbeat',
    })
  })

  test.for([
    ['SESSION_MODE_UNSPECIFIED', 'SESSION_MODE_UNSPECIFIED'],
    [7, '7'],
  ] as const)('a Hello with mode %s', async ([mode, got]) => {
    expect(await refusal({ hello: { ...hello, mode: mode as 'SESSION_MODE_UNSPECIFIED' } })).toEqual({
      code: 'INVALID_ARGUMENT',
      details: `Hello.mode: got ${got}, wanted SESSION_MODE_LIVE or SESSION_MODE_IMPORT`,
    })
  })

  test('a missing collector id and a too long terminal', async () => {
    expect((await refusal({ hello: { ...hello, collectorId: '' } })).details).toBe(
      'Hello.collector_id: got 0 characters, wanted 1 to 128',
    )
    expect((await refusal({ hello: { ...hello, terminal: 'x'.repeat(129) } })).details).toBe(
      'Hello.terminal: got 129 characters, wanted 0 to 128',
    )
  })

  test('another message before Hello', async () => {
    expect((await refusal({ heartbeat: { terminalConnected: true } })).details).toBe(
      'the first message must be hello, got heartbeat',
    )
  })

  test('a lane that is not known, and the live lane in an import', async () => {
    const [live, beside] = [suite.connect(), suite.connect()]
    await live.hello(suite.feed.key)
    await beside.hello(suite.feed.key, { mode: 'IMPORT' })
    const series = [seriesAt('EURUSD', [suite.minute - 60])]
    live.send({ bars: { sequence: 1, lane: 'LANE_UNSPECIFIED', series } })
    expect((await live.answer(1)).refused).toMatchObject([
      { message: 'lane: got none that is known, wanted LANE_LIVE or LANE_BACKFILL' },
    ])
    beside.send({ bars: { sequence: 1, lane: 'LANE_LIVE', series } })
    expect((await beside.answer(1)).refused).toMatchObject([
      { message: 'lane: got LANE_LIVE, wanted LANE_BACKFILL, the lane of imports' },
    ])
    await Promise.all([live.close(), beside.close()])
  })
})
