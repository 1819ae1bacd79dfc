import { run } from './kubectl.ts'
import type { ClusterNetwork } from './network.ts'

/** Script that calls etcd's API, which listens only inside the cluster's network. */
const program = `
const ask = async (path, body) => {
  const answer = await fetch('http://127.0.0.1:2379/v3/' + path, { method: 'POST', body: JSON.stringify(body) })
  if (!answer.ok) throw new Error(path + ' answered ' + answer.status + ': ' + (await answer.text()))
  return answer.json()
}
const { header } = await ask('maintenance/status', {})
await ask('kv/compaction', { revision: header.revision, physical: true })
`

/** Makes etcd drop all revisions but the newest, so that a watch from an older one gets 410. */
export async function compactHistory(network: ClusterNetwork): Promise<void> {
  await run(network.enter(process.execPath, '--input-type=module', '--eval', program))
}
