import type * as grpc from '@grpc/grpc-js';
import type { MessageTypeDefinition } from '@grpc/proto-loader';

import type { AcceptTablesRequest as _fxd_v1_AcceptTablesRequest, AcceptTablesRequest__Output as _fxd_v1_AcceptTablesRequest__Output } from './fxd/v1/AcceptTablesRequest.ts';
import type { AcceptTablesResponse as _fxd_v1_AcceptTablesResponse, AcceptTablesResponse__Output as _fxd_v1_AcceptTablesResponse__Output } from './fxd/v1/AcceptTablesResponse.ts';
import type { AcceptTerminalRequest as _fxd_v1_AcceptTerminalRequest, AcceptTerminalRequest__Output as _fxd_v1_AcceptTerminalRequest__Output } from './fxd/v1/AcceptTerminalRequest.ts';
import type { AcceptTerminalResponse as _fxd_v1_AcceptTerminalResponse, AcceptTerminalResponse__Output as _fxd_v1_AcceptTerminalResponse__Output } from './fxd/v1/AcceptTerminalResponse.ts';
import type { ApplyFeedRequest as _fxd_v1_ApplyFeedRequest, ApplyFeedRequest__Output as _fxd_v1_ApplyFeedRequest__Output } from './fxd/v1/ApplyFeedRequest.ts';
import type { BackfillRequest as _fxd_v1_BackfillRequest, BackfillRequest__Output as _fxd_v1_BackfillRequest__Output } from './fxd/v1/BackfillRequest.ts';
import type { BackfillResponse as _fxd_v1_BackfillResponse, BackfillResponse__Output as _fxd_v1_BackfillResponse__Output } from './fxd/v1/BackfillResponse.ts';
import type { BackfilledRange as _fxd_v1_BackfilledRange, BackfilledRange__Output as _fxd_v1_BackfilledRange__Output } from './fxd/v1/BackfilledRange.ts';
import type { BeginStoreRequest as _fxd_v1_BeginStoreRequest, BeginStoreRequest__Output as _fxd_v1_BeginStoreRequest__Output } from './fxd/v1/BeginStoreRequest.ts';
import type { BeginStoreResponse as _fxd_v1_BeginStoreResponse, BeginStoreResponse__Output as _fxd_v1_BeginStoreResponse__Output } from './fxd/v1/BeginStoreResponse.ts';
import type { ClockHistory as _fxd_v1_ClockHistory, ClockHistory__Output as _fxd_v1_ClockHistory__Output } from './fxd/v1/ClockHistory.ts';
import type { ClockReading as _fxd_v1_ClockReading, ClockReading__Output as _fxd_v1_ClockReading__Output } from './fxd/v1/ClockReading.ts';
import type { CreateKeyRequest as _fxd_v1_CreateKeyRequest, CreateKeyRequest__Output as _fxd_v1_CreateKeyRequest__Output } from './fxd/v1/CreateKeyRequest.ts';
import type { Feed as _fxd_v1_Feed, Feed__Output as _fxd_v1_Feed__Output } from './fxd/v1/Feed.ts';
import type { GetClockRequest as _fxd_v1_GetClockRequest, GetClockRequest__Output as _fxd_v1_GetClockRequest__Output } from './fxd/v1/GetClockRequest.ts';
import type { GetFeedRequest as _fxd_v1_GetFeedRequest, GetFeedRequest__Output as _fxd_v1_GetFeedRequest__Output } from './fxd/v1/GetFeedRequest.ts';
import type { GetHealthRequest as _fxd_v1_GetHealthRequest, GetHealthRequest__Output as _fxd_v1_GetHealthRequest__Output } from './fxd/v1/GetHealthRequest.ts';
import type { GetKeyRequest as _fxd_v1_GetKeyRequest, GetKeyRequest__Output as _fxd_v1_GetKeyRequest__Output } from './fxd/v1/GetKeyRequest.ts';
import type { Health as _fxd_v1_Health, Health__Output as _fxd_v1_Health__Output } from './fxd/v1/Health.ts';
import type { IssueFeedTokenRequest as _fxd_v1_IssueFeedTokenRequest, IssueFeedTokenRequest__Output as _fxd_v1_IssueFeedTokenRequest__Output } from './fxd/v1/IssueFeedTokenRequest.ts';
import type { IssueFeedTokenResponse as _fxd_v1_IssueFeedTokenResponse, IssueFeedTokenResponse__Output as _fxd_v1_IssueFeedTokenResponse__Output } from './fxd/v1/IssueFeedTokenResponse.ts';
import type { IssuedKey as _fxd_v1_IssuedKey, IssuedKey__Output as _fxd_v1_IssuedKey__Output } from './fxd/v1/IssuedKey.ts';
import type { Key as _fxd_v1_Key, Key__Output as _fxd_v1_Key__Output } from './fxd/v1/Key.ts';
import type { KeyLimits as _fxd_v1_KeyLimits, KeyLimits__Output as _fxd_v1_KeyLimits__Output } from './fxd/v1/KeyLimits.ts';
import type { KeyUse as _fxd_v1_KeyUse, KeyUse__Output as _fxd_v1_KeyUse__Output } from './fxd/v1/KeyUse.ts';
import type { ListFeedsRequest as _fxd_v1_ListFeedsRequest, ListFeedsRequest__Output as _fxd_v1_ListFeedsRequest__Output } from './fxd/v1/ListFeedsRequest.ts';
import type { ListFeedsResponse as _fxd_v1_ListFeedsResponse, ListFeedsResponse__Output as _fxd_v1_ListFeedsResponse__Output } from './fxd/v1/ListFeedsResponse.ts';
import type { ListKeysRequest as _fxd_v1_ListKeysRequest, ListKeysRequest__Output as _fxd_v1_ListKeysRequest__Output } from './fxd/v1/ListKeysRequest.ts';
import type { ListKeysResponse as _fxd_v1_ListKeysResponse, ListKeysResponse__Output as _fxd_v1_ListKeysResponse__Output } from './fxd/v1/ListKeysResponse.ts';
import type { ListTopKeysRequest as _fxd_v1_ListTopKeysRequest, ListTopKeysRequest__Output as _fxd_v1_ListTopKeysRequest__Output } from './fxd/v1/ListTopKeysRequest.ts';
import type { ListTopKeysResponse as _fxd_v1_ListTopKeysResponse, ListTopKeysResponse__Output as _fxd_v1_ListTopKeysResponse__Output } from './fxd/v1/ListTopKeysResponse.ts';
import type { PurgeFeedRequest as _fxd_v1_PurgeFeedRequest, PurgeFeedRequest__Output as _fxd_v1_PurgeFeedRequest__Output } from './fxd/v1/PurgeFeedRequest.ts';
import type { PurgeFeedResponse as _fxd_v1_PurgeFeedResponse, PurgeFeedResponse__Output as _fxd_v1_PurgeFeedResponse__Output } from './fxd/v1/PurgeFeedResponse.ts';
import type { PutKeyRequest as _fxd_v1_PutKeyRequest, PutKeyRequest__Output as _fxd_v1_PutKeyRequest__Output } from './fxd/v1/PutKeyRequest.ts';
import type { RefillTableRequest as _fxd_v1_RefillTableRequest, RefillTableRequest__Output as _fxd_v1_RefillTableRequest__Output } from './fxd/v1/RefillTableRequest.ts';
import type { RefillTableResponse as _fxd_v1_RefillTableResponse, RefillTableResponse__Output as _fxd_v1_RefillTableResponse__Output } from './fxd/v1/RefillTableResponse.ts';
import type { RegistryClient as _fxd_v1_RegistryClient, RegistryDefinition as _fxd_v1_RegistryDefinition } from './fxd/v1/Registry.ts';
import type { RemoveFeedRequest as _fxd_v1_RemoveFeedRequest, RemoveFeedRequest__Output as _fxd_v1_RemoveFeedRequest__Output } from './fxd/v1/RemoveFeedRequest.ts';
import type { RemoveFeedResponse as _fxd_v1_RemoveFeedResponse, RemoveFeedResponse__Output as _fxd_v1_RemoveFeedResponse__Output } from './fxd/v1/RemoveFeedResponse.ts';
import type { RemoveSymbolRequest as _fxd_v1_RemoveSymbolRequest, RemoveSymbolRequest__Output as _fxd_v1_RemoveSymbolRequest__Output } from './fxd/v1/RemoveSymbolRequest.ts';
import type { RemoveSymbolResponse as _fxd_v1_RemoveSymbolResponse, RemoveSymbolResponse__Output as _fxd_v1_RemoveSymbolResponse__Output } from './fxd/v1/RemoveSymbolResponse.ts';
import type { ResolutionsWithoutBars as _fxd_v1_ResolutionsWithoutBars, ResolutionsWithoutBars__Output as _fxd_v1_ResolutionsWithoutBars__Output } from './fxd/v1/ResolutionsWithoutBars.ts';
import type { RevokeKeyRequest as _fxd_v1_RevokeKeyRequest, RevokeKeyRequest__Output as _fxd_v1_RevokeKeyRequest__Output } from './fxd/v1/RevokeKeyRequest.ts';
import type { RotateKeyRequest as _fxd_v1_RotateKeyRequest, RotateKeyRequest__Output as _fxd_v1_RotateKeyRequest__Output } from './fxd/v1/RotateKeyRequest.ts';
import type { SeriesWindows as _fxd_v1_SeriesWindows, SeriesWindows__Output as _fxd_v1_SeriesWindows__Output } from './fxd/v1/SeriesWindows.ts';
import type { SetFeedsOwnerRequest as _fxd_v1_SetFeedsOwnerRequest, SetFeedsOwnerRequest__Output as _fxd_v1_SetFeedsOwnerRequest__Output } from './fxd/v1/SetFeedsOwnerRequest.ts';
import type { SetFeedsOwnerResponse as _fxd_v1_SetFeedsOwnerResponse, SetFeedsOwnerResponse__Output as _fxd_v1_SetFeedsOwnerResponse__Output } from './fxd/v1/SetFeedsOwnerResponse.ts';
import type { StringList as _fxd_v1_StringList, StringList__Output as _fxd_v1_StringList__Output } from './fxd/v1/StringList.ts';
import type { SuspendKeyRequest as _fxd_v1_SuspendKeyRequest, SuspendKeyRequest__Output as _fxd_v1_SuspendKeyRequest__Output } from './fxd/v1/SuspendKeyRequest.ts';
import type { SuspendKeyResponse as _fxd_v1_SuspendKeyResponse, SuspendKeyResponse__Output as _fxd_v1_SuspendKeyResponse__Output } from './fxd/v1/SuspendKeyResponse.ts';
import type { UpdateKeyRequest as _fxd_v1_UpdateKeyRequest, UpdateKeyRequest__Output as _fxd_v1_UpdateKeyRequest__Output } from './fxd/v1/UpdateKeyRequest.ts';

type SubtypeConstructor<Constructor extends new (...args: any) => any, Subtype> = {
  new(...args: ConstructorParameters<Constructor>): Subtype;
};

export interface ProtoGrpcType {
  fxd: {
    v1: {
      AcceptTablesRequest: MessageTypeDefinition<_fxd_v1_AcceptTablesRequest, _fxd_v1_AcceptTablesRequest__Output>
      AcceptTablesResponse: MessageTypeDefinition<_fxd_v1_AcceptTablesResponse, _fxd_v1_AcceptTablesResponse__Output>
      AcceptTerminalRequest: MessageTypeDefinition<_fxd_v1_AcceptTerminalRequest, _fxd_v1_AcceptTerminalRequest__Output>
      AcceptTerminalResponse: MessageTypeDefinition<_fxd_v1_AcceptTerminalResponse, _fxd_v1_AcceptTerminalResponse__Output>
      ApplyFeedRequest: MessageTypeDefinition<_fxd_v1_ApplyFeedRequest, _fxd_v1_ApplyFeedRequest__Output>
      BackfillRequest: MessageTypeDefinition<_fxd_v1_BackfillRequest, _fxd_v1_BackfillRequest__Output>
      BackfillResponse: MessageTypeDefinition<_fxd_v1_BackfillResponse, _fxd_v1_BackfillResponse__Output>
      BackfilledRange: MessageTypeDefinition<_fxd_v1_BackfilledRange, _fxd_v1_BackfilledRange__Output>
      BeginStoreRequest: MessageTypeDefinition<_fxd_v1_BeginStoreRequest, _fxd_v1_BeginStoreRequest__Output>
      BeginStoreResponse: MessageTypeDefinition<_fxd_v1_BeginStoreResponse, _fxd_v1_BeginStoreResponse__Output>
      ClockHistory: MessageTypeDefinition<_fxd_v1_ClockHistory, _fxd_v1_ClockHistory__Output>
      ClockReading: MessageTypeDefinition<_fxd_v1_ClockReading, _fxd_v1_ClockReading__Output>
      CreateKeyRequest: MessageTypeDefinition<_fxd_v1_CreateKeyRequest, _fxd_v1_CreateKeyRequest__Output>
      Feed: MessageTypeDefinition<_fxd_v1_Feed, _fxd_v1_Feed__Output>
      GetClockRequest: MessageTypeDefinition<_fxd_v1_GetClockRequest, _fxd_v1_GetClockRequest__Output>
      GetFeedRequest: MessageTypeDefinition<_fxd_v1_GetFeedRequest, _fxd_v1_GetFeedRequest__Output>
      GetHealthRequest: MessageTypeDefinition<_fxd_v1_GetHealthRequest, _fxd_v1_GetHealthRequest__Output>
      GetKeyRequest: MessageTypeDefinition<_fxd_v1_GetKeyRequest, _fxd_v1_GetKeyRequest__Output>
      Health: MessageTypeDefinition<_fxd_v1_Health, _fxd_v1_Health__Output>
      IssueFeedTokenRequest: MessageTypeDefinition<_fxd_v1_IssueFeedTokenRequest, _fxd_v1_IssueFeedTokenRequest__Output>
      IssueFeedTokenResponse: MessageTypeDefinition<_fxd_v1_IssueFeedTokenResponse, _fxd_v1_IssueFeedTokenResponse__Output>
      IssuedKey: MessageTypeDefinition<_fxd_v1_IssuedKey, _fxd_v1_IssuedKey__Output>
      Key: MessageTypeDefinition<_fxd_v1_Key, _fxd_v1_Key__Output>
      KeyLimits: MessageTypeDefinition<_fxd_v1_KeyLimits, _fxd_v1_KeyLimits__Output>
      KeyUse: MessageTypeDefinition<_fxd_v1_KeyUse, _fxd_v1_KeyUse__Output>
      ListFeedsRequest: MessageTypeDefinition<_fxd_v1_ListFeedsRequest, _fxd_v1_ListFeedsRequest__Output>
      ListFeedsResponse: MessageTypeDefinition<_fxd_v1_ListFeedsResponse, _fxd_v1_ListFeedsResponse__Output>
      ListKeysRequest: MessageTypeDefinition<_fxd_v1_ListKeysRequest, _fxd_v1_ListKeysRequest__Output>
      ListKeysResponse: MessageTypeDefinition<_fxd_v1_ListKeysResponse, _fxd_v1_ListKeysResponse__Output>
      ListTopKeysRequest: MessageTypeDefinition<_fxd_v1_ListTopKeysRequest, _fxd_v1_ListTopKeysRequest__Output>
      ListTopKeysResponse: MessageTypeDefinition<_fxd_v1_ListTopKeysResponse, _fxd_v1_ListTopKeysResponse__Output>
      PurgeFeedRequest: MessageTypeDefinition<_fxd_v1_PurgeFeedRequest, _fxd_v1_PurgeFeedRequest__Output>
      PurgeFeedResponse: MessageTypeDefinition<_fxd_v1_PurgeFeedResponse, _fxd_v1_PurgeFeedResponse__Output>
      PutKeyRequest: MessageTypeDefinition<_fxd_v1_PutKeyRequest, _fxd_v1_PutKeyRequest__Output>
      RefillTableRequest: MessageTypeDefinition<_fxd_v1_RefillTableRequest, _fxd_v1_RefillTableRequest__Output>
      RefillTableResponse: MessageTypeDefinition<_fxd_v1_RefillTableResponse, _fxd_v1_RefillTableResponse__Output>
      /**
       * The only administration API, for the command line and the operator.
       * Requires `authorization: Bearer <token>` metadata with the administration token, or a client certificate with
       * the URI fxd://admin. Every error has a message. Common statuses:
       * - UNAUTHENTICATED: a missing or invalid credential.
       * - PERMISSION_DENIED: the credential of a collector.
       * - INVALID_ARGUMENT: invalid input.
       * - NOT_FOUND: unknown key or feed.
       * - FAILED_PRECONDITION: the state of the key or feed forbids the change.
       * - ABORTED: the change is based on an outdated version; read again, then retry once. Version 0 means any version.
       */
      Registry: SubtypeConstructor<typeof grpc.Client, _fxd_v1_RegistryClient> & { service: _fxd_v1_RegistryDefinition }
      RemoveFeedRequest: MessageTypeDefinition<_fxd_v1_RemoveFeedRequest, _fxd_v1_RemoveFeedRequest__Output>
      RemoveFeedResponse: MessageTypeDefinition<_fxd_v1_RemoveFeedResponse, _fxd_v1_RemoveFeedResponse__Output>
      RemoveSymbolRequest: MessageTypeDefinition<_fxd_v1_RemoveSymbolRequest, _fxd_v1_RemoveSymbolRequest__Output>
      RemoveSymbolResponse: MessageTypeDefinition<_fxd_v1_RemoveSymbolResponse, _fxd_v1_RemoveSymbolResponse__Output>
      ResolutionsWithoutBars: MessageTypeDefinition<_fxd_v1_ResolutionsWithoutBars, _fxd_v1_ResolutionsWithoutBars__Output>
      RevokeKeyRequest: MessageTypeDefinition<_fxd_v1_RevokeKeyRequest, _fxd_v1_RevokeKeyRequest__Output>
      RotateKeyRequest: MessageTypeDefinition<_fxd_v1_RotateKeyRequest, _fxd_v1_RotateKeyRequest__Output>
      SeriesWindows: MessageTypeDefinition<_fxd_v1_SeriesWindows, _fxd_v1_SeriesWindows__Output>
      SetFeedsOwnerRequest: MessageTypeDefinition<_fxd_v1_SetFeedsOwnerRequest, _fxd_v1_SetFeedsOwnerRequest__Output>
      SetFeedsOwnerResponse: MessageTypeDefinition<_fxd_v1_SetFeedsOwnerResponse, _fxd_v1_SetFeedsOwnerResponse__Output>
      StringList: MessageTypeDefinition<_fxd_v1_StringList, _fxd_v1_StringList__Output>
      SuspendKeyRequest: MessageTypeDefinition<_fxd_v1_SuspendKeyRequest, _fxd_v1_SuspendKeyRequest__Output>
      SuspendKeyResponse: MessageTypeDefinition<_fxd_v1_SuspendKeyResponse, _fxd_v1_SuspendKeyResponse__Output>
      UpdateKeyRequest: MessageTypeDefinition<_fxd_v1_UpdateKeyRequest, _fxd_v1_UpdateKeyRequest__Output>
    }
  }
}

