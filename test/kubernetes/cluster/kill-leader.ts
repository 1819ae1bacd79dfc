import { within } from '../../faults/within.ts'
import type { UnderLoad } from './under-load.ts'

const takeoverMs = 120_000

/** Kills the operator that leads, as a crash would; resolves once another one leads. */
export async function killLeader({ kubectl }: Pick<UnderLoad, 'kubectl'>): Promise<void> {
  const leader = (): Promise<string> =>
    kubectl('get', 'lease', 'fxd-operator', '-o=jsonpath={.spec.holderIdentity}')
  const old = await leader()
  await kubectl('delete', 'pod', old, '--grace-period=0', '--force')
  await within(takeoverMs, 'another operator to lead', async () => {
    const now = await leader()
    return now !== '' && now !== old
  })
}
