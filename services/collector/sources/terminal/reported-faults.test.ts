import { expect, test } from 'vitest'
import { openTerminalSource } from '../../../../test/support/fixtures/terminal-source-fixture.ts'
import { createVirtualClock } from '../../../../test/support/fixtures/virtual-clock.ts'
import { terminalHello } from '../../../../test/support/samples/posting-terminal.ts'
import type { TerminalLine } from '../../../core/terminal/lines.ts'
import { createLog } from '../../../platform/log/log.ts'

const failure = (number: number): TerminalLine => ({
  line: 'error',
  number,
  function: 'CopyRates',
  raw: 'EURUSD',
})

async function begin() {
  const lines: Record<string, unknown>[] = []
  const log = createLog('info', {
    write: (line: string) => void lines.push(JSON.parse(line) as Record<string, unknown>),
  })
  const clock = createVirtualClock()
  const { source, post } = await openTerminalSource(clock, ['1'], { log })
  await source.begin(1, { ...terminalHello, maxBars: 100_000, pcUtc: 1_767_607_205 })
  const logged = (text: string) => lines.filter(({ msg }) => msg === text)
  return { clock, post, logged }
}

test('a terminal that begins a session is logged with its bound of bars and the clock of its machine', async () => {
  const { logged } = await begin()
  expect(logged('terminal began a session')).toMatchObject([{ maxBars: 100_000, pcUtc: 1_767_607_205 }])
})

test('an error that a terminal reports again is logged once a minute with its count, and another number at once', async () => {
  const { clock, post, logged } = await begin()
  const failed = () => logged('function of the terminal failed').map(({ number, events }) => [number, events])
  await post(failure(4_401), failure(4_401), failure(4_402))
  await post(failure(4_401))
  expect(failed()).toEqual([
    [4_401, 1],
    [4_402, 1],
  ])
  await clock.advance(60_000)
  await post(failure(4_401))
  expect(failed().slice(2)).toEqual([[4_401, 3]])
})

test('errors with any number of numbers are a bounded number of lines', async () => {
  const { post, logged } = await begin()
  await post(...Array.from({ length: 500 }, (_, number) => failure(number)))
  expect(logged('function of the terminal failed')).toHaveLength(51)
})
