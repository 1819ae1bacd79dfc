import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, rmdirSync } from 'node:fs'
import { join } from 'node:path'

/** Folders of control groups, versions 1 and 2. */
const groupFolders = ['/sys/fs/cgroup/pids', '/sys/fs/cgroup']

/** Why this machine cannot run Kubernetes nodes, as the end of a sentence; `undefined` when it can. */
export function refusal(): string | undefined {
  if (process.platform !== 'linux') return 'nodes run on Linux only'
  if (process.getuid?.() !== 0) return 'nodes need root'
  if (!canDo(makeNetwork)) return 'the kernel refuses a network namespace'
  if (!canDo(makeGroup)) return 'the kernel refuses a control group'
  return undefined
}

function makeNetwork(): void {
  const name = `fxd-probe-${process.pid}`
  execFileSync('ip', ['netns', 'add', name], { stdio: 'pipe' })
  execFileSync('ip', ['netns', 'delete', name], { stdio: 'pipe' })
}

function makeGroup(): void {
  const folder = join(groupFolders.find(existsSync) ?? '', `fxd-probe-${process.pid}`)
  mkdirSync(folder)
  rmdirSync(folder)
}

function canDo(step: () => void): boolean {
  try {
    step()
    return true
  } catch {
    return false
  }
}
