import { connect as connectHttp2 } from 'node:http2'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { RawSession, seriesAt } from '../../../test/support/clients/raw-session.ts'
import { defects, HostileFixture } from '../../../test/support/fixtures/hostile-fixture.ts'
import { oddText, randomMessages, unsigned } from '../../../test/support/samples/random-messages.ts'
import { toList } from '../../core/bars/bar.ts'
import { barFault } from '../../core/bars/bar-rules.ts'
import { feedSeconds } from '../../core/clocks/feed-clock.ts'
import { compoundKey } from '../../core/feeds/compound-key.ts'
import { streamsPerConnectionMax } from '../../wire/limits.ts'

const suite = new HostileFixture()
const { feed } = suite

test('thousands of random messages neither end the process nor cause a defect status', async () => {
  let counter = 0
  await fc.assert(
    fc.asyncProperty(
      fc.array(
        randomMessages((count) => suite.minuteAgo(count)),
        { minLength: 10, maxLength: 40 },
      ),
      fc.constantFrom('LIVE' as const, 'IMPORT' as const),
      async (messages, mode) => {
        const session = new RawSession(suite.ingest.address)
        counter += 1
        await session.hello(feed.key, { mode, id: `random-${mode === 'LIVE' ? 'one' : counter}` })
        for (const message of messages) session.send(message)
        session.stream.end()
        expect(defects).not.toContain((await session.ended).code)
      },
    ),
    { numRuns: 120 },
  )
  await suite.expectService()
  const stored = await suite.ingest.stores.bars.read({
    series: { feed: feed.key, symbol: compoundKey(feed.key, 'EURUSD'), resolution: '1' },
    from: feedSeconds(0),
    to: feedSeconds(suite.minuteAgo(-2)),
  })
  expect(toList(stored).filter((bar) => barFault(bar, '1'))).toEqual([])
})

test('invalid Hellos are refused with a sentence', async () => {
  await fc.assert(
    fc.asyncProperty(oddText, oddText, oddText, unsigned, async (key, collectorId, terminal, mode) => {
      const session = new RawSession(suite.ingest.address)
      session.send({ hello: { feed: key, collectorId, terminal, mode: mode as 0 } })
      const { code, details } = await session.ended
      expect(['INVALID_ARGUMENT', 'NOT_FOUND']).toContain(code)
      expect(details).not.toBe('')
    }),
    { numRuns: 50 },
  )
  await suite.expectService()
})

test('one connection has at most sixteen simultaneous calls', async () => {
  const connection = connectHttp2(`http://${suite.ingest.address}`)
  const settings = await new Promise<{ maxConcurrentStreams?: number }>((resolve) =>
    connection.once('remoteSettings', resolve),
  )
  expect(settings.maxConcurrentStreams).toBe(streamsPerConnectionMax)
  connection.destroy()
})

test('connections that are cut at any time leave no open session', async () => {
  const sessions = Array.from({ length: 40 }, (_, i) => {
    const session = new RawSession(suite.ingest.address)
    session.send({
      hello: { feed: feed.key, collectorId: `cut-${i}`, mode: 'SESSION_MODE_IMPORT', terminal: '' },
    })
    if (i % 2 === 0) session.post('BACKFILL', [seriesAt('EURUSD', [suite.minuteAgo(3)])])
    return session
  })
  // The server serves sixteen of the forty calls of one connection at a time.
  await sessions[5]?.next('known')
  for (const session of sessions) session.stream.cancel()
  await Promise.all(sessions.map(({ ended }) => ended))
  await expect
    .poll(async () => (await suite.ingest.metrics.render()).text)
    .toContain('fxd_ingest_sessions{mode="import"} 0')
  await suite.expectService()
})

test('an unfinished catalogue with longer texts than valid symbols can have ends its session', async () => {
  const session = new RawSession(suite.ingest.address)
  await session.hello(feed.key, { mode: 'IMPORT', isCatalogued: false })
  const description = 'x'.repeat(250_000)
  for (let part = 0; part < 40; part++) {
    const symbols = [{ raw: `LONG${part}`, digits: 5, description }]
    session.send({ catalogue: { revision: 1, snapshot: false, last: false, symbols } })
  }
  expect(await session.ended).toEqual({
    code: 'RESOURCE_EXHAUSTED',
    details: expect.stringMatching(/^catalogue: got \d+ characters, wanted at most 4600000$/) as string,
  })
})
