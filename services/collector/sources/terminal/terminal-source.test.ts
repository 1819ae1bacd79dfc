import { describe, expect, test } from 'vitest'
import {
  CollectorFixture,
  day,
  hour,
  minute,
  minutes,
} from '../../../../test/support/fixtures/collector-fixture.ts'
import { PostingTerminal } from '../../../../test/support/samples/posting-terminal.ts'
import { silentLog } from '../../../platform/log/log.ts'
import { TerminalSource } from './terminal-source.ts'

const suite = new CollectorFixture({ source: { type: 'Terminal' } })

function open() {
  const { feed: definition, clock } = suite
  const source = new TerminalSource({ definition, clock, log: silentLog })
  const terminal = new PostingTerminal(source, () => Math.floor(clock.utcMs() / 1_000))
  return { source, terminal }
}

/** Lets the terminal post until the condition holds. */
async function until(terminal: PostingTerminal, holds: () => boolean | Promise<boolean>): Promise<void> {
  const check = async (): Promise<boolean> => {
    await terminal.turn()
    return holds()
  }
  await expect.poll(check, { timeout: 20_000, interval: 5 }).toBe(true)
}

async function settled(terminal: PostingTerminal): Promise<void> {
  const from = suite.noon - 2 * day
  await until(terminal, async () => (await suite.windows()).some((window) => window[1] === from))
}

/** A collector with its terminal, whose history is stored. */
async function collecting() {
  const { source, terminal } = open()
  suite.collect(source)
  await expect
    .poll(() =>
      terminal.begin().then(
        () => true,
        () => false,
      ),
    )
    .toBe(true)
  await settled(terminal)
  return { source, terminal }
}

describe('a terminal that posts', () => {
  test('gets its history stored, newest day first, and the last six hours pushed in order', async () => {
    await collecting()
    expect(await suite.times()).toEqual(minutes(suite.noon - 2 * day, suite.noon))
    expect(suite.pushed()).toEqual(minutes(suite.noon - 6 * hour + minute, suite.noon))
    expect(await suite.windows()).toEqual([['EURUSD', suite.noon - 2 * day, suite.noon]])
  })

  test('has each minute pushed once with its last value, and claimed for all symbols', async () => {
    const { terminal } = await collecting()
    suite.fixture.events.length = 0
    for (let i = 0; i < 3; i++) {
      await suite.clock.advance(30_000)
      await terminal.turn()
      await suite.clock.advance(30_000)
      await until(terminal, () => suite.pushed().length === i + 1)
    }
    expect(suite.pushed()).toEqual(minutes(suite.noon, suite.noon + 3 * minute))
    const stored = (await suite.stored()).slice(-3)
    expect(stored.map(({ close }) => close.toFixed(5))).toEqual(
      minutes(suite.noon, suite.noon + 3 * minute).map((time) => terminal.bar(time).close),
    )
    await expect
      .poll(() => suite.covered('EURUSD'))
      .toEqual([[suite.noon - 2 * day, suite.noon + 3 * minute]])
  })
})
