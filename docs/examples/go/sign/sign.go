// Package sign signs payloads of the service as its API takes them.
package sign

import (
	"encoding/hex"
	"encoding/json"
	"strings"

	"github.com/ethereum/go-ethereum/accounts/abi"
	"github.com/ethereum/go-ethereum/crypto"
	"github.com/ethereum/go-ethereum/signer/core/apitypes"
)

// Payload signs typed data (JSON text), and encodes the signature together with the address: 0x hex.
func Payload(privateKey, payload string) (string, error) {
	key, err := crypto.HexToECDSA(strings.TrimPrefix(privateKey, "0x"))
	if err != nil {
		return "", err
	}
	var typedData apitypes.TypedData
	if err := json.Unmarshal([]byte(payload), &typedData); err != nil {
		return "", err
	}
	digest, _, err := apitypes.TypedDataAndHash(typedData)
	if err != nil {
		return "", err
	}
	signature, err := crypto.Sign(digest, key)
	if err != nil {
		return "", err
	}
	signature[64] += 27
	address, _ := abi.NewType("address", "", nil)
	bytes, _ := abi.NewType("bytes", "", nil)
	encoded, err := abi.Arguments{{Type: address}, {Type: bytes}}.Pack(crypto.PubkeyToAddress(key.PublicKey), signature)
	if err != nil {
		return "", err
	}
	return "0x" + hex.EncodeToString(encoded), nil
}
