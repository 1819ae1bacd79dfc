import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { until } from '../../acceptance/client/until.ts'

/** A message at which a process with the defect throws. */
export const defectMessage = '{"action":"defect"}'

const defect = `{
  const { parse } = JSON
  const broken = { get action() { throw new TypeError('injected defect') } }
  JSON.parse = (text, ...more) => (text === ${JSON.stringify(defectMessage)} ? broken : parse(text, ...more))
}`

/** Adds a defect to the handling of messages in a process of a pod, until the process ends. */
export async function injectDefect(pid: number): Promise<void> {
  // SIGUSR1 makes Node open its inspector, on the loopback address of the pod.
  process.kill(pid, 'SIGUSR1')
  const inside = [
    `--net=/proc/${pid}/ns/net`,
    process.execPath,
    join(import.meta.dirname, 'evaluate-inside.ts'),
  ]
  await until('the inspector to answer', async () => {
    await promisify(execFile)('nsenter', [...inside, defect])
    return true
  })
}
