import { expect, test } from 'vitest'
import { type Misbehaviour, misbehave, passing } from './double/misbehaviours.ts'
import { TerminalSuite } from './double/terminal-suite.ts'

const suite = new TerminalSuite()
const raw = 'EURUSD.z'

test.for(Object.entries<Misbehaviour>(passing))(
  '%s: every closed bar is stored once, with its last value',
  async ([, misbehaviour]) => {
    const terminal = await suite.begin()
    const met = misbehave(terminal, misbehaviour)
    await suite.minutesPass(terminal, 4)
    const metAgain = misbehave(terminal, misbehaviour)
    const end = await suite.calm(terminal)
    await expect.poll(() => suite.differences(terminal, raw, end), suite.patience).toEqual([])
    expect(met() + metAgain()).toBeGreaterThan(0)
  },
)
