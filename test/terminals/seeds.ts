import { afterAll, expect, test, vi } from 'vitest'
import { type Chance, createChance } from '../sim/runtime/chance.ts'
import { effort } from '../support/effort.ts'
import { type Misbehaviour, misbehave, passing } from './double/misbehaviours.ts'
import type { TerminalDouble } from './double/terminal-double.ts'
import { TerminalSuite } from './double/terminal-suite.ts'

/**
 * Number of seeds, the same seeds in every run: 75, since 100 take 99 s on two cores. 375 in `make soak`, 1,000 with
 * FXD_TEST_EFFORT=13.4.
 */
const seedsInAll = Math.ceil(75 * effort)
const raws = ['EURUSD.z', 'GBPUSD.z']
const misbehaviours = Object.entries<Misbehaviour>(passing)
/** Interval of the virtual clock at which coverage is checked. */
const checkSeconds = 20

/** What one seed does to a terminal, its collector and its ingest in the first three minutes. */
class Trouble {
  readonly #suite: TerminalSuite
  readonly #terminal: TerminalDouble
  readonly #chance: Chance
  readonly #met = new Map<string, () => number>()
  #kills: Promise<void> = Promise.resolve()

  constructor(suite: TerminalSuite, terminal: TerminalDouble, chance: Chance) {
    this.#suite = suite
    this.#terminal = terminal
    this.#chance = chance
  }

  /** Begins with the misbehaviour of this turn, so that the seeds of one file meet each one. */
  begin(turn: number): void {
    const { int, pick } = this.#chance
    const begin = ([name, misbehaviour]: (typeof misbehaviours)[number]) => {
      const before = this.#met.get(name)
      const met = misbehave(this.#terminal, misbehaviour)
      this.#met.set(name, () => met() + (before?.() ?? 0))
    }
    begin(misbehaviours[turn % misbehaviours.length] as (typeof misbehaviours)[number])
    const kills = {
      'kill of the terminal': () => this.#terminal.restart(),
      'kill of the collector': () => this.#suite.killCollector(this.#chance.next),
      'kill of ingest': () => this.#suite.killIngest(),
    }
    for (let i = int(3); i > 0; i--) {
      const drawn = pick(misbehaviours)
      this.#terminal.after(int(180), () => begin(drawn))
    }
    for (let i = int(3); i > 0; i--) {
      const [name, kill] = pick(Object.entries(kills))
      this.#terminal.after(int(180), () => {
        this.#kills = this.#kills.then(kill)
        this.#met.set(name, () => 1)
      })
    }
  }

  get names(): readonly string[] {
    return [...this.#met.keys()]
  }

  /** Resolves once all kills are over. */
  end(): Promise<void> {
    return this.#kills
  }

  /** What happened, and how often the bridge met it so far. */
  get met(): Map<string, number> {
    return new Map([...this.#met].map(([name, met]) => [name, met()]))
  }
}

/** Tests every `of`th seed from `part` on. Several files share the seeds, so that they run in parallel. */
export function describeSeeds(part: number, of: number): void {
  const suite = new TerminalSuite()
  const seeds = Array.from({ length: Math.ceil((seedsInAll - part) / of) }, (_, i) => part + 1 + i * of)
  const met = new Map<string, number>()
  let runs = 0

  test.for(seeds)('seed %i: every closed bar is stored once, with its last value', async (seed) => {
    runs += 1
    const chance = createChance(seed)
    const terminal = await suite.begin()
    terminal.symbols = raws.slice(0, 1 + chance.int(2))
    const trouble = new Trouble(suite, terminal, chance)
    trouble.begin(Math.floor(seed / of))
    const claimed = new Set<number>()
    let checkAt = 0
    const check = async (): Promise<boolean> => {
      if (terminal.now < checkAt) return false
      checkAt = terminal.now + checkSeconds
      for (const raw of terminal.symbols)
        for (const time of await suite.coveredWithoutBars(raw).catch(() => [])) claimed.add(time)
      return !terminal.isWaiting
    }
    await vi.waitUntil(check, { timeout: 60_000, interval: 20 })
    await trouble.end()
    // A minute whose post was lost with ingest is covered by the next session.
    if (trouble.names.includes('kill of ingest')) await suite.killIngest()
    const end = await suite.calm(terminal)
    for (const [name, count] of trouble.met) met.set(name, (met.get(name) ?? 0) + count)
    const drawn = trouble.names.join(', ')
    for (const raw of terminal.symbols)
      await expect
        .poll(() => suite.differences(terminal, raw, end), { ...suite.patience, message: drawn })
        .toEqual([])
    expect([...claimed], drawn).toEqual([])
  })

  afterAll(() => {
    // Seeds without faults would prove nothing; a run of single seeds does not meet all.
    if (runs < misbehaviours.length) return
    const all = [
      ...misbehaviours.map(([name]) => name),
      'kill of the terminal',
      'kill of the collector',
      'kill of ingest',
    ]
    const missed = all.filter((name) => !((met.get(name) ?? 0) > 0))
    expect(missed).toEqual([])
  })
}
