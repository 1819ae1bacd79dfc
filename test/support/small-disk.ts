import { execFileSync } from 'node:child_process'
import { appendFileSync, mkdtempSync, rmdirSync, rmSync, statfsSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

export interface SmallDisk {
  readonly folder: string
  /** Leaves so many bytes free. */
  fill(leftBytes: number): void
  free(): void
  remove(): void
}

const pieceMaxBytes = 2 ** 20

/** For tests of `make test`, which everybody runs: a disk of this size for root, none for who may not mount one. */
export const mountable = (bytes: number): { readonly bytes: number }[] =>
  process.getuid?.() === 0 ? [{ bytes }] : []

/** A file system of its own that is full soon. */
export function mountSmallDisk(bytes: number): SmallDisk {
  const folder = mkdtempSync(join(tmpdir(), 'fxd-small-disk-'))
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${bytes},mode=0700`, 'fxd-small-disk', folder], {
      stdio: 'pipe',
    })
  } catch (cause) {
    rmdirSync(folder)
    throw new Error(
      'A full disk is tested on a small tmpfs, and mounting one was refused: run this test on Linux as root, or in a container that may mount (CAP_SYS_ADMIN).',
      { cause },
    )
  }
  const ballast = join(folder, 'ballast')
  return {
    folder,
    fill(leftBytes) {
      // Piece by piece: what uses the disk goes on writing meanwhile.
      for (;;) {
        const { bavail, bsize } = statfsSync(folder)
        const pieceBytes = Math.min(pieceMaxBytes, bavail * bsize - leftBytes)
        if (pieceBytes <= 0) return
        appendFileSync(ballast, Buffer.alloc(pieceBytes))
      }
    },
    free: () => rmSync(ballast, { force: true }),
    remove() {
      execFileSync('umount', ['-l', folder], { stdio: 'pipe' })
      rmdirSync(folder)
    },
  }
}
