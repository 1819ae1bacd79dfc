import { describe, expect, test } from 'vitest'
import {
  helloText,
  openEndpoint,
  postText,
  RecordedFeed,
} from '../../../../../test/support/fixtures/terminal-fixture.ts'
import { createVirtualClock } from '../../../../../test/support/fixtures/virtual-clock.ts'
import { NotTaken } from '../terminal-feed.ts'

const tick = 'tick\t1700000000\tEURUSD'

describe('a session', () => {
  test('begins with hello, and each answer repeats session and sequence', async () => {
    const { post, feed } = await openEndpoint()
    const hello = await post(helloText())
    expect(hello).toMatchObject({
      status: 200,
      text: expect.stringMatching(/^fxd\t1\t[1-9]\d*\t0\nsymbols\n$/) as string,
    })
    expect(hello.headers.get('content-type')).toBe('text/plain; charset=utf-8')
    expect(feed.begun).toMatchObject([{ server: 'Broker-Live', role: 'Both' }])
    const session = Number(hello.text.split('\t')[2])
    expect(feed.begun[0]?.session).toBe(session)
    expect(await post(postText(session, 1, tick))).toMatchObject({
      status: 200,
      text: `fxd\t1\t${session}\t1\npause\t500\n`,
    })
    expect(feed.taken).toEqual([[{ line: 'tick', time: 1_700_000_000, raw: 'EURUSD' }]])
  })

  test('answers a repeated sequence with the same text, and applies it once', async () => {
    const { post, greet, feed } = await openEndpoint()
    const session = await greet()
    const first = await post(postText(session, 1, tick))
    feed.answer = [{ line: 'standby' }]
    expect((await post(postText(session, 1, tick))).text).toBe(first.text)
    expect(feed.taken).toHaveLength(1)
    expect((await post(postText(session, 2, tick))).text).toContain('standby')
  })

  test.each([0, 3, 9])('refuses the sequence %i after the sequence 1', async (sequence) => {
    const { post, greet } = await openEndpoint()
    const session = await greet()
    await post(postText(session, 1))
    expect(await post(postText(session, sequence, tick))).toMatchObject({
      status: 409,
      text: `error\tSEQUENCE\tThe sequence is ${sequence}, wanted 1 or 2; begin with hello.\n`,
    })
  })

  test('has one post under way: a second one is BUSY, and the first is answered', async () => {
    const { post, greet, feed } = await openEndpoint()
    const session = await greet()
    const held = feed.hold()
    const first = post(postText(session, 1, tick))
    await held.reached
    expect(await post(postText(session, 1, tick))).toMatchObject({
      status: 409,
      text: expect.stringContaining('error\tBUSY\tA post of this session is under way') as string,
    })
    held.release()
    expect((await first).status).toBe(200)
    expect(feed.taken).toHaveLength(1)
  })

  test('takes a post again that was not taken', async () => {
    const { post, greet, feed } = await openEndpoint()
    const session = await greet()
    feed.before = () => Promise.reject(new NotTaken('The spool cannot be written: its disk is full.'))
    expect(await post(postText(session, 1, tick))).toMatchObject({
      status: 503,
      text: 'error\tNOT_TAKEN\tThe spool cannot be written: its disk is full.\n',
    })
    feed.before = () => Promise.reject(new Error('secret place'))
    const failed = await post(postText(session, 1, tick))
    expect(failed).toMatchObject({
      status: 503,
      text: expect.stringContaining('error\tNOT_TAKEN\tfxd failed') as string,
    })
    expect(failed.text).not.toContain('secret place')
    feed.before = () => Promise.resolve()
    expect((await post(postText(session, 1, tick))).status).toBe(200)
    expect(feed.taken).toHaveLength(1)
  })

  test('keeps its sequence when a post has a fault, of which nothing is taken', async () => {
    const { post, greet, feed } = await openEndpoint()
    const session = await greet()
    expect(await post(postText(session, 1, tick, 'tick\tnow\tEURUSD'))).toMatchObject({
      status: 400,
      text: expect.stringContaining(
        'error\tBAD_POST\tline 3: the field TIME is "now", wanted a whole number',
      ) as string,
    })
    expect(feed.taken).toEqual([])
    expect((await post(postText(session, 1, tick))).status).toBe(200)
  })

  test('of which nobody knows is NO_SESSION, and its terminal begins with hello', async () => {
    const { post } = await openEndpoint()
    expect(await post(postText(123_456, 7, tick))).toMatchObject({
      status: 410,
      text: expect.stringContaining('error\tNO_SESSION\tThis session is not known here') as string,
    })
  })

  test('of a feed that was started again in this process is NO_SESSION', async () => {
    const other = await openEndpoint()
    let feed = other.feed
    const { post, greet } = await openEndpoint({ terminalOf: () => feed })
    const session = await greet()
    feed = new RecordedFeed()
    expect(await post(postText(session, 1, tick))).toMatchObject({
      status: 410,
      text: expect.stringContaining('error\tNO_SESSION\t') as string,
    })
  })

  test('ends after 30 s without a post, and at most once', async () => {
    const clock = createVirtualClock()
    const { post, greet, feed } = await openEndpoint({ clock })
    const session = await greet()
    await clock.advance(29_000)
    expect((await post(postText(session, 1, tick))).status).toBe(200)
    await clock.advance(29_000)
    expect(feed.ended).toEqual([])
    await clock.advance(60_000)
    expect(feed.ended).toEqual([session])
    expect(await post(postText(session, 2, tick))).toMatchObject({
      status: 410,
      text: expect.stringContaining(
        'NO_SESSION\tThis session is not known here: the collector was restarted, or the terminal was silent for 30 s',
      ) as string,
    })
  })
})

describe('a second terminal', () => {
  test('of the same account and role replaces the first one at once, which is SUPERSEDED', async () => {
    const { post, greet, feed } = await openEndpoint()
    const first = await greet()
    const second = await greet()
    expect(second).not.toBe(first)
    expect(feed.ended).toEqual([first])
    expect(await post(postText(first, 1, tick))).toMatchObject({
      status: 410,
      text: expect.stringContaining('SUPERSEDED\tAnother terminal took over; wait 30 s') as string,
    })
    expect((await post(postText(second, 1, tick))).status).toBe(200)
  })

  test('leaves the one that it replaced SUPERSEDED when a third of another role begins', async () => {
    const { post, greet } = await openEndpoint()
    const first = await greet({ role: 'Live' })
    await greet({ role: 'Live' })
    await greet({ role: 'History' })
    expect((await post(postText(first, 1, tick))).text).toContain('error\tSUPERSEDED\t')
  })

  test('of a role that overlaps is refused while the first posts, and takes over after 30 s', async () => {
    const clock = createVirtualClock()
    const { post, greet, feed } = await openEndpoint({ clock })
    const first = await greet({ role: 'Both' })
    await clock.advance(12_000)
    const refused = await post(helloText({ role: 'Live' }))
    expect(refused).toMatchObject({
      status: 409,
      text: expect.stringContaining(
        'SECOND_TERMINAL\tAnother terminal (role Both, at 127.0.0.1) posted 12 s ago',
      ) as string,
    })
    expect(refused.headers.get('retry-after')).toBe('18')
    expect((await post(postText(first, 1, tick))).status).toBe(200)
    await clock.advance(30_000)
    const second = await greet({ role: 'Live' })
    expect(feed.ended).toEqual([first])
    expect((await post(postText(second, 1, tick))).status).toBe(200)
  })

  test('of role History stands beside one of role Live, and Both replaces both', async () => {
    const { post, greet, feed } = await openEndpoint()
    const live = await greet({ role: 'Live' })
    const history = await greet({ role: 'History' })
    expect((await post(postText(live, 1, tick))).status).toBe(200)
    expect((await post(postText(history, 1, tick))).status).toBe(200)
    expect(feed.ended).toEqual([])
    const both = await greet({ role: 'Both' })
    expect(feed.ended).toEqual([live, history])
    expect((await post(postText(both, 1, tick))).status).toBe(200)
  })

  test('that begins during a post of the first: that post gets no answer of its session', async () => {
    const { post, greet, feed } = await openEndpoint()
    const first = await greet()
    const held = feed.hold()
    const slow = post(postText(first, 1, tick))
    await held.reached
    await greet()
    held.release()
    expect((await slow).status).toBe(410)
  })
})

describe('the pinned terminal', () => {
  const other = 'fedcba9876543210'

  test('is the first one; another account is OTHER_ACCOUNT with both terminals and the cure', async () => {
    const { post, greet, feed } = await openEndpoint()
    await greet()
    expect(feed.pin.identity).toBe('Broker Ltd / Broker-Live / 0123456789abcdef')
    const refused = await post(helloText({ account: other }))
    expect(refused.status).toBe(403)
    expect(refused.text).toBe(
      'error\tOTHER_ACCOUNT\tThis feed takes bars of Broker Ltd / Broker-Live / 0123456789abcdef, and this terminal is ' +
        `Broker Ltd / Broker-Live / ${other}; "fxd feeds terminal BROKERA:ZERO --accept" accepts it.\n`,
    )
    expect(feed.begun).toHaveLength(1)
  })

  test('is compared at each post: a session of another one is refused once ingest tells who is pinned', async () => {
    const { post, greet, feed } = await openEndpoint()
    const session = await greet()
    feed.pin.identity = `Broker Ltd / Broker-Live / ${other}`
    expect(await post(postText(session, 1, tick))).toMatchObject({
      status: 403,
      text: expect.stringContaining('OTHER_ACCOUNT') as string,
    })
    expect(feed.taken).toEqual([])
  })

  test('is pinned anew by a hello after a person accepted another one', async () => {
    const { post, greet, feed } = await openEndpoint()
    const session = await greet()
    feed.pin.identity = undefined
    expect(await post(postText(session, 1, tick))).toMatchObject({
      status: 410,
      text: expect.stringContaining(
        'NO_SESSION\tThe terminal of this feed is to be pinned again; begin with hello',
      ) as string,
    })
    await greet({ account: other })
    expect(feed.pin.identity).toContain(other)
  })

  test('is unknown before ingest has said it: the hello is NOT_TAKEN', async () => {
    const { post, feed } = await openEndpoint()
    feed.pin.isKnown = false
    expect(await post(helloText())).toMatchObject({
      status: 503,
      text: expect.stringContaining('NOT_TAKEN\tThe collector has not reached ingest yet') as string,
    })
    expect(feed.begun).toEqual([])
  })
})
