/**
 * Preloaded into the processes of the bench `minute`: records when bars reach each stage. It appends lines
 * `stage nanoseconds-of-the-monotonic-clock` to the file in BENCH_STAGES, in a quiet moment after a burst.
 */
import { appendFileSync } from 'node:fs'
import { isMainThread } from 'node:worker_threads'
import { channelOf, stages } from '../../../services/platform/stages.ts'

/** Lines are written once no stage was reached for this long. */
const quietMs = 500

const path = process.env['BENCH_STAGES']
// Worker threads load this module, too.
if (isMainThread && path !== undefined) record(path)

function record(file: string): void {
  const names: string[] = []
  const times: bigint[] = []
  let isTimed = false
  const flushWhenQuiet = (): void => {
    isTimed = false
    const last = times.at(-1)
    if (last === undefined) return
    if (Number(process.hrtime.bigint() - last) < quietMs * 1e6) return wait()
    appendFileSync(file, names.map((name, at) => `${name} ${times[at]}\n`).join(''))
    names.length = times.length = 0
  }
  const wait = (): void => {
    isTimed = true
    setTimeout(flushWhenQuiet, quietMs).unref()
  }
  for (const stage of stages)
    channelOf(stage).subscribe(() => {
      names.push(stage)
      times.push(process.hrtime.bigint())
      if (!isTimed) wait()
    })
}
