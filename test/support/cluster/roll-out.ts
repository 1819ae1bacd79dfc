import { readFileSync } from 'node:fs'
import { until } from '../../acceptance/client/until.ts'
import type { Cluster } from './cluster.ts'

/** A drain, and the guarded seconds around the minute's edge. */
const stopMsMax = 60_000
const balancerMsMax = 30_000

/** Ends a process as a rollout does and starts it again; resolves once it is in rotation. */
export async function rollOut({ pod, balancer }: Cluster, name: string): Promise<void> {
  const { role, program } = pod(name)
  const outcome = await program.stop('SIGTERM', stopMsMax)
  if (outcome !== 0) throw new Error(`${name} ended with ${outcome}:\n${program.lastWords()}`)
  await program.start()
  if (role === 'collector') return
  const lastLine = (state: string): number =>
    readFileSync(balancer.log, 'utf8').lastIndexOf(`${role}/${name} is ${state}`)
  // Who is back before the balancer asked twice was never out.
  await until(`${name} to be in rotation`, () => lastLine('UP') >= lastLine('DOWN'), balancerMsMax)
}
