import { expect, test } from 'vitest'
import { openTerminalSource } from '../../../../test/support/fixtures/terminal-source-fixture.ts'
import { createVirtualClock } from '../../../../test/support/fixtures/virtual-clock.ts'
import { terminalHello } from '../../../../test/support/samples/posting-terminal.ts'
import { feedSeconds } from '../../../core/clocks/feed-clock.ts'
import type { AnswerLine, TerminalRole } from '../../../core/terminal/lines.ts'

const series = { raw: 'EURUSD', resolution: '1' } as const
const { signal } = new AbortController()
const spanOf = (day: number) => ({ from: feedSeconds(day * 86_400), to: feedSeconds((day + 1) * 86_400) })
const wantOf = (day: number): AnswerLine => ({ line: 'want', series, span: spanOf(day) })

/** A session that was asked for one day, and its post with the answer to it. */
async function answering(role: TerminalRole) {
  const clock = createVirtualClock()
  const { source, post } = await openTerminalSource(clock, ['1'])
  const read = async (day: number): Promise<void> => {
    for await (const _ of source.read(series, spanOf(day), signal));
  }
  const whole = read(2)
  expect((await source.begin(1, { ...terminalHello, role })).filter(({ line }) => line === 'want')).toEqual([
    wantOf(2),
  ])
  const answers: (readonly AnswerLine[])[] = []
  const taken = post({ line: 'complete', series, span: spanOf(2) })
  void taken.then((lines) => void answers.push(lines))
  await whole
  return { clock, read, answers }
}

test('the answer to history comes once the next range is wanted', async () => {
  const { clock, read, answers } = await answering('History')
  await clock.advance(900)
  expect(answers).toEqual([])
  void read(1)
  await expect.poll(() => answers).toEqual([[wantOf(1)]])
})

test('the answer to a catalogue of a session that reads history comes once a range is wanted', async () => {
  const clock = createVirtualClock()
  const { source, post } = await openTerminalSource(clock, ['1'])
  await source.begin(1, { ...terminalHello, role: 'History' })
  const answers: (readonly AnswerLine[])[] = []
  void post({ line: 'catalogue', count: 0 }).then((lines) => void answers.push(lines))
  await clock.advance(900)
  expect(answers).toEqual([])
  void source.read(series, spanOf(1), signal).next()
  await expect.poll(() => answers.flat()).toContainEqual(wantOf(1))
})

test('the answer to history comes after a second if no other range is wanted', async () => {
  const { clock, answers } = await answering('History')
  await clock.advance(999)
  expect(answers).toEqual([])
  await clock.advance(1)
  await expect.poll(() => answers).toEqual([[]])
})

test('the answer to a session that sweeps too does not wait for another range', async () => {
  const { answers } = await answering('Both')
  await expect.poll(() => answers.length).toBe(1)
})
