import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Stage } from '../../../services/platform/stages.ts'
import { systemClock } from '../../../services/platform/system-clock.ts'

const recorder = new URL('./stage-recorder.ts', import.meta.url).href
/** After this time without a burst the processes have written their lines. */
const flushedMs = 1_500

/** When bars reached a stage in a process, in milliseconds of the monotonic clock. */
export interface Mark {
  readonly process: string
  readonly stage: Stage
  readonly at: number
}

/** The files into which the processes under test write their stages. */
export class StageFiles {
  readonly #folder = mkdtempSync(join(tmpdir(), 'fxd-bench-stages-'))

  /** Variables of a process with this name, which make it record; `more` are further options of Node. */
  env(name: string, more: readonly string[] = []): Record<string, string> {
    return {
      NODE_OPTIONS: [`--import=${recorder}`, ...more].join(' '),
      BENCH_STAGES: join(this.#folder, name),
    }
  }

  /** All marks so far; waits until they are written. */
  async read(): Promise<Mark[]> {
    await systemClock.sleep(flushedMs)
    return readdirSync(this.#folder)
      .toSorted()
      .flatMap((name) =>
        readFileSync(join(this.#folder, name), 'utf8')
          .split('\n')
          .filter((line) => line !== '')
          .map((line) => {
            const [stage, ns] = line.split(' ')
            return { process: name, stage: stage as Stage, at: Number(ns) / 1e6 }
          }),
      )
  }

  discard(): void {
    rmSync(this.#folder, { recursive: true, force: true })
  }
}
