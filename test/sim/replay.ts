/** `bin/node test/sim/replay.ts <seed> [<defect>]` repeats one run and prints its event log and violations. */
import { type Defect, defects } from './defects.ts'
import { simulate } from './run.ts'

const [seed = '1', defect] = process.argv.slice(2)
if (defect !== undefined && !(defect in defects))
  throw new Error(`got the defect "${defect}", expected one of ${Object.keys(defects).join(', ')}`)
const startedAt = performance.now()
const { eventLog, violations, ...rest } = await simulate(Number(seed), defect as Defect | undefined, {
  logsProcesses: true,
})
for (const line of eventLog) console.log(line)
for (const violation of violations) console.log('VIOLATION', violation)
console.log({ ...rest, violations: violations.length, ms: Math.round(performance.now() - startedAt) })
