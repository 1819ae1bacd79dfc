import { execFileSync } from 'node:child_process'
import { expect, onTestFinished, test } from 'vitest'
import { ClusterNetwork } from './cluster/network.ts'

const exists = (name: string): boolean =>
  execFileSync('ip', ['netns', 'list'], { encoding: 'utf8' })
    .split('\n')
    .some((line) => line.split(' ')[0] === name)

test('a second cluster does not remove the network of a cluster that is still starting', async () => {
  const first = await ClusterNetwork.open()
  onTestFinished(() => first.remove())
  const second = await ClusterNetwork.open()
  onTestFinished(() => second.remove())
  expect(second.name).not.toBe(first.name)
  expect([first.name, second.name].map(exists)).toEqual([true, true])
})
