import { expect, test, vi } from 'vitest'
import { type Misbehaviour, passing } from './double/misbehaviours.ts'
import { TerminalSuite } from './double/terminal-suite.ts'

const suite = new TerminalSuite()
const patience = { timeout: 15_000, interval: 20 }

/** Lets the terminal run for these minutes of its clock. */
async function minutesPass(terminal: { readonly now: number }, count: number): Promise<void> {
  const end = terminal.now + count * 60
  await vi.waitUntil(() => terminal.now > end, patience)
}

test.for(Object.entries<Misbehaviour>(passing))(
  '%s: every closed bar is stored once, with its last value',
  async ([, misbehave]) => {
    const terminal = suite.begin()
    misbehave(terminal)
    await minutesPass(terminal, 4)
    misbehave(terminal)
    await minutesPass(terminal, 14)
    const end = terminal.now - (terminal.now % 60)
    await expect.poll(() => suite.stored(terminal, end), patience).toEqual(suite.wanted(terminal, end))
  },
)
