// Original file: proto/fxd/v1/registry.proto


export interface SuspendKeyResponse {
  /**
   * Whether the key is now inactive and belongs to this owner.
   */
  'suspended'?: (boolean);
}

export interface SuspendKeyResponse__Output {
  /**
   * Whether the key is now inactive and belongs to this owner.
   */
  'suspended': (boolean);
}
