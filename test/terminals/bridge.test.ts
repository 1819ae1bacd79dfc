import { afterEach, describe, expect, test, vi } from 'vitest'
import { type Post, Responder, type Response } from './responder.ts'
import { priceAt, SmallTerminal } from './small-terminal.ts'

const token = `fxt_${'0123456789abcdef'.repeat(2)}`
const { start, firstBar } = SmallTerminal
const newestMinute = start - (start % 60)

let responder: Responder
let terminal: SmallTerminal

const has = (post: Post, name: string): boolean => post.lines.some(([first]) => first === name)

async function begin(
  kind: 'mt4' | 'mt5',
  respond: (post: Post, position: number) => Response,
  {
    faults = [],
    prefix = '',
    role = '0',
    lastTick,
  }: { faults?: (number | 'lose')[]; prefix?: string; role?: string; lastTick?: number } = {},
): Promise<void> {
  responder = await Responder.listen(respond)
  const inputs = { Address: `${responder.address}${prefix}`, Token: token, Role: role }
  terminal = new SmallTerminal(kind, inputs, faults, lastTick)
}

/** Every test ends here: the sanitizers found nothing. */
afterEach(async () => {
  const defects = await terminal.stop()
  responder.close()
  if (defects !== '') throw new Error(defects)
})

/** As a collector: it wants the catalogue first, then what `more` says. */
const collector =
  (...more: string[]) =>
  (post: Post): Response => {
    if (has(post, 'hello')) return ['symbols']
    return has(post, 'catalogue') ? ['select\tEURUSD', ...more] : []
  }

/** Bar lines of all groups of EURUSD, resolution 1. */
function bars(): string[][] {
  const found: string[][] = []
  for (const { lines } of responder.posts)
    for (const [at, line] of lines.entries())
      if (line[0] === 'bars')
        found.push(...lines.slice(at + 1, at + 1 + Number(line[3])).map((bar) => [...bar]))
  return found
}

describe.for(['mt5', 'mt4'] as const)('the program of %s', (kind) => {
  test('begins with a hello and posts the catalogue that the collector wants', async () => {
    await begin(kind, collector(), { prefix: '/zero/0' })
    await vi.waitFor(() => expect(responder.lines('catalogue')).toEqual([['catalogue', '1']]), 10_000)
    const [hello] = responder.posts
    expect(hello).toMatchObject({ path: '/zero/0/v1/terminal', authorization: `Bearer ${token}` })
    expect(hello?.lines[0]).toEqual(['fxd', '1', '0', '0'])
    const [name, program, , terminalKind, build, server, company, account, maxBars, tick, utc, role] =
      hello?.lines[1] ?? []
    expect([name, program, terminalKind, build]).toEqual(['hello', 'FxdBridge', kind.toUpperCase(), '5000'])
    expect([server, company, maxBars, role]).toEqual(['Zero-Live', 'Zero Ltd', '100000', 'Both'])
    expect(account).toMatch(/^[0-9a-f]{32}$/)
    expect([tick, utc]).toEqual([String(start), String(start - 7200)])
    expect(responder.lines('symbol')).toEqual([['symbol', 'EURUSD', '5', 'Forex\\EURUSD', 'Euro Dollar']])
  })

  test('posts the newest bars of the collector again and all later ones, and marks only the newest as open', async () => {
    await begin(kind, collector(`newest\tEURUSD\t1\t${newestMinute - 180}`))
    await vi.waitFor(() => expect(responder.lines('watched').length).toBeGreaterThan(2), 20_000)
    const posted = bars()
    // They may have changed while the terminal was away.
    const first = [480, 420, 360, 300, 240, 180, 120, 60, 0].map((ago) => newestMinute - ago)
    expect(posted.slice(0, 9).map(([time, open]) => [time, open])).toEqual(
      first.map((time) => [String(time), priceAt(time)]),
    )
    expect(posted.slice(0, 9).map((bar) => bar[6])).toEqual([...first.slice(1).map(() => undefined), 'open'])
    // The clock of the terminal moved on: each minute came closed.
    const closed = new Set(posted.filter((bar) => bar[6] !== 'open').map(([time]) => Number(time)))
    expect([newestMinute, newestMinute + 60].filter((time) => !closed.has(time))).toEqual([])
  })

  test('posts the last longer bar again after its end when the market has closed before', async () => {
    const lastTick = newestMinute + 290
    await begin(kind, collector(`newest\tEURUSD\t5\t${newestMinute}`), { lastTick })
    const groups = (): Post[] =>
      responder.posts.filter(({ lines }) => lines.some(([name]) => name === 'bars'))
    await vi.waitFor(() => expect(groups()).toHaveLength(2), 20_000)
    const [, last] = groups()
    const at = last?.lines.findIndex(([name]) => name === 'bars') ?? 0
    expect(last?.lines[at]).toEqual(['bars', 'EURUSD', '5', '2'])
    expect(last?.lines[at + 2]?.slice(0, 1)).toEqual([String(newestMinute)])
    expect(terminal.time).toBeGreaterThanOrEqual(newestMinute + 305)
  })

  test('says once that a series is late, and reads it again until it can be read, without a tick of its symbol', async () => {
    const postedAt: [string, number][] = []
    const respond = collector(...['EURUSD', 'GBPUSD'].map((raw) => `newest\t${raw}\t1\t${newestMinute}`))
    await begin(kind, (post) => {
      for (const [name = '', raw] of post.lines)
        if (raw === 'GBPUSD') postedAt.push([name, terminal.time - start])
      return respond(post)
    })
    terminal.unreadable = { from: start + 50, to: start + 60 }
    const afterLate = () => postedAt.slice(postedAt.findIndex(([name]) => name === 'late'))
    await vi.waitFor(() => expect(afterLate().length).toBeGreaterThan(1), 20_000)
    const [[first] = [], [second, seconds] = []] = afterLate()
    expect([first, second]).toEqual(['late', 'bars'])
    expect(seconds).toBeGreaterThanOrEqual(60)
    expect(seconds).toBeLessThan(65)
  })

  test('answers a want with its bars and complete, and says what is beyond the terminal', async () => {
    const from = firstBar - 6000
    await begin(kind, collector(`want\tEURUSD\t1\t${from}\t${newestMinute}`))
    await vi.waitFor(() => expect(responder.lines('complete')).toHaveLength(1), 20_000)
    expect(responder.lines('complete')).toEqual([
      ['complete', 'EURUSD', '1', String(firstBar), String(newestMinute)],
    ])
    expect(responder.lines('beyond')).toEqual([['beyond', 'EURUSD', '1', String(firstBar)]])
    const times = bars().map(([time]) => Number(time))
    expect(times).toEqual(Array.from({ length: 100 }, (_, at) => firstBar + at * 60))
  })

  test('says whether it is connected before its first answer to a want', async () => {
    const want = `want\tEURUSD\t1\t${firstBar}\t${newestMinute}`
    await begin(kind, (post) => (has(post, 'hello') ? [want] : []), { role: '2' })
    await vi.waitFor(() => expect(responder.lines('complete')).toHaveLength(1), 20_000)
    expect(responder.posts[1]?.lines.at(-1)).toEqual(['connected', '1'])
    expect(bars().length).toBeGreaterThan(0)
  })

  test('posts the same body with the same sequence again when an answer is lost', async () => {
    await begin(kind, collector(`want\tEURUSD\t1\t${firstBar}\t${newestMinute}`), {
      faults: [0, 0, 'lose', 'lose'],
    })
    await vi.waitFor(() => expect(responder.posts.length).toBeGreaterThan(5), 20_000)
    const bodies = responder.posts.map(({ body }) => body)
    expect(bodies[3]).toBe(bodies[2])
    expect(bodies[4]).toBe(bodies[2])
    expect(responder.posts.slice(0, 6).map(({ lines }) => Number(lines[0]?.[3]))).toEqual([0, 1, 2, 2, 2, 3])
  })

  test('posts the same again, and the session goes on, after a proxy in front had no collector behind it', async () => {
    const respond = collector()
    const away = { status: 503, body: 'no healthy upstream' }
    await begin(kind, (post, position) => (position >= 2 && position <= 4 ? away : respond(post)))
    await vi.waitFor(() => expect(responder.posts.length).toBeGreaterThan(5), 20_000)
    const [, , first, ...others] = responder.posts.slice(0, 6).map(({ body }) => body)
    expect(others).toEqual([first, first, first])
    expect(terminal.printed.at(-1)).toMatch(/^fxd: The post to http:\S+ failed; posting again/)
  })

  test('prints the sentence of a refused token once a minute', async () => {
    const refusal = { status: 401, body: 'error\tTOKEN_INVALID\tThis token is not one of feed zero.\n' }
    await begin(kind, () => refusal)
    await vi.waitFor(() => expect(responder.posts.length).toBeGreaterThanOrEqual(5), 20_000)
    const said = terminal.printed.filter((line) => line.includes('This token is not one of feed zero.'))
    expect(said[0]).toBe('fxd: The collector refuses: This token is not one of feed zero.')
    expect(said.length).toBeGreaterThan(1)
    // It waits 30 s after each.
    expect(said.length).toBeLessThanOrEqual(Math.ceil(responder.posts.length / 2) + 1)
  })

  test.for([
    ['NO_SESSION', 1, 3],
    ['SUPERSEDED', 30, 33],
  ] as const)('after %s begins again with hello within %i to %i s', async ([code, least, most]) => {
    const helloAt: number[] = []
    let refusedAt = 0
    const respond = collector()
    await begin(kind, (post) => {
      if (has(post, 'hello')) helloAt.push(terminal.time)
      if (!has(post, 'connected') || refusedAt > 0) return respond(post)
      refusedAt = terminal.time
      return { status: 410, body: `error\t${code}\tBegin with hello.\n` }
    })
    await vi.waitFor(() => expect(helloAt).toHaveLength(2), 20_000)
    const waited = (helloAt[1] ?? 0) - refusedAt
    expect(waited).toBeGreaterThanOrEqual(least)
    expect(waited).toBeLessThanOrEqual(most)
  })

  test('names the option of the terminal that is missing when it may not post', async () => {
    await begin(kind, collector(), { faults: [kind === 'mt5' ? 4014 : 4060] })
    await vi.waitFor(() => expect(responder.lines('catalogue')).toHaveLength(1), 10_000)
    expect(terminal.printed[0]).toMatch(
      /^fxd: Allow http:\S+ in Tools > Options > Expert Advisors \(error 40(14|60)/,
    )
  })
})
