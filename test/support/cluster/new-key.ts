import { fxd } from '../cli-house.ts'
import type { Cluster } from './cluster.ts'

/** The secret of a key with such flags of `fxd keys create`. */
export async function newKey(cluster: Pick<Cluster, 'commandEnv'>, flags: string): Promise<string> {
  const { code, out, err } = await fxd(`keys create ${flags} --json`, cluster.commandEnv)
  if (code !== 0) throw new Error(`no key was issued (${code}): ${err}`)
  return (JSON.parse(out) as { key: string }).key
}
