/** `bin/node test/sim/replay.ts <seed> [<defect>]` tells the story of one run. */
import { type Defect, defects } from './defects.ts'
import { simulate } from './run.ts'

const [seed = '1', defect] = process.argv.slice(2)
if (defect !== undefined && !(defect in defects))
  throw new Error(`${defect} is none of ${Object.keys(defects).join(', ')}`)
const begun = performance.now()
const { story, violations, ...rest } = await simulate(Number(seed), defect as Defect | undefined, {
  tells: true,
})
for (const line of story) console.log(line)
for (const violation of violations) console.log('VIOLATION', violation)
console.log({ ...rest, violations: violations.length, ms: Math.round(performance.now() - begun) })
