import { constants } from 'node:fs'
import { type FileHandle, open, readlink, realpath } from 'node:fs/promises'
import { sep } from 'node:path'

/** The path is a pipe, a device, a folder or a link out of its folder; nothing was read. The message names the path. */
export class NotRegular extends Error {}

/**
 * Opens a regular file for reading without ever blocking, as opening a pipe would. `inside`: a folder in which
 * the file must be after links are followed; links to places inside of it work (Kubernetes mounts files as
 * links). Throws `NotRegular`, or the error of the file system.
 */
export async function openRegular(path: string, inside?: string): Promise<FileHandle> {
  const folder = inside === undefined ? undefined : await realpath(inside)
  const place = await realpath(path)
  refuseOutside(path, place, folder)
  const file = await open(place, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW)
  try {
    if (!(await file.stat()).isFile()) throw new NotRegular(`${path} is not a regular file`)
    // A folder of the path may have become a link in between; only Linux reports where the file was opened.
    refuseOutside(path, await readlink(`/proc/self/fd/${file.fd}`).catch(() => place), folder)
    return file
  } catch (cause) {
    await file.close()
    throw cause
  }
}

function refuseOutside(path: string, place: string, folder: string | undefined): void {
  if (folder === undefined || place.startsWith(folder.endsWith(sep) ? folder : folder + sep)) return
  throw new NotRegular(`${path} is a link that leads out of ${folder}`)
}
