// A payment by Dave, a member of the demo organization, with a generated client (docs/go.md):
//
//	go run . ACCOUNT_ID POLICY_ID TO WEI
package main

import (
	"context"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"log"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"example.com/pay/orgwallet"
	"example.com/pay/sign"
)

// demo is what npm start writes about the demo organization.
type demo struct {
	BaseURL, CaFile string
	APIKeys         []struct{ Key string }
	Members         []struct{ WalletAddress, PrivateKey string }
	Networks        []struct{ ID int }
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

// expect ends the program with the answer if it has another status.
func expect(status, wanted int, body []byte) {
	if status != wanted {
		log.Fatalf("%d: %s", status, body)
	}
}

// newKey is a random UUID. A program that pays stores it first: with the same key nothing is paid twice.
func newKey() string {
	b := make([]byte, 16)
	_, err := rand.Read(b)
	check(err)
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[0:4], b[4:6], b[6:8], b[8:10], b[10:])
}

func readDemo() (d demo) {
	folder := os.Getenv("ORGWALLET_DATA_DIR")
	if folder == "" {
		folder = ".data"
	}
	text, err := os.ReadFile(filepath.Join(folder, "demo.json"))
	check(err)
	check(json.Unmarshal(text, &d))
	return d
}

// connect sends the API key, and trusts the certificate of the service.
func connect(d demo) *orgwallet.ClientWithResponses {
	certificate, err := os.ReadFile(d.CaFile)
	check(err)
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(certificate)
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool}}}
	api, err := orgwallet.NewClientWithResponses(d.BaseURL, orgwallet.WithHTTPClient(client),
		orgwallet.WithRequestEditorFn(func(_ context.Context, request *http.Request) error {
			request.Header.Set("Authorization", "Bearer "+d.APIKeys[0].Key)
			return nil
		}))
	check(err)
	return api
}

func transferOf(response *orgwallet.TransactionResponse) orgwallet.TokenTransferTransaction {
	transfer, err := response.Data.AsTokenTransferTransaction()
	check(err)
	return transfer
}

func main() {
	if len(os.Args) != 5 {
		log.Fatal("usage: go run . ACCOUNT_ID POLICY_ID TO WEI")
	}
	accountID, policyID, to, wei := os.Args[1], os.Args[2], os.Args[3], os.Args[4]
	d, ctx := readDemo(), context.Background()
	api, dave := connect(d), d.Members[0]

	// 1. Request it.
	body, err := json.Marshal(map[string]any{
		"accountId": accountID, "policyId": policyID, "networkId": d.Networks[0].ID, "description": "Lunch",
		"initiatorWalletAddress": dave.WalletAddress, "to": to, "value": wei, "data": "0x",
	})
	check(err)
	created, err := api.CreateTransactionWithBodyWithResponse(ctx,
		&orgwallet.CreateTransactionParams{XIdempotencyKey: newKey()}, "application/json", strings.NewReader(string(body)))
	check(err)
	expect(created.StatusCode(), 201, created.Body)
	transaction := transferOf(created.JSON201)
	fmt.Printf("%s: %s\n", transaction.Id, transaction.Summary)

	// 2. Compare what is to be signed with what was asked for, and sign it.
	payloads, err := transaction.SigningPayloads.AsInitiatorPayload()
	check(err)
	var payload struct {
		Message struct{ To, Value, Data string }
	}
	check(json.Unmarshal([]byte(payloads.InitiatorPayload), &payload))
	if m := payload.Message; !strings.EqualFold(m.To, to) || m.Value != wei || m.Data != "0x" {
		log.Fatalf("this is another payment: %+v", m)
	}
	signature, err := sign.Payload(dave.PrivateKey, payloads.InitiatorPayload)
	check(err)
	signed, err := api.SignTransactionWithResponse(ctx, transaction.Id,
		&orgwallet.SignTransactionParams{XIdempotencyKey: newKey()},
		orgwallet.SignTransactionRequest{Type: "initiator", Signature: signature})
	check(err)
	expect(signed.StatusCode(), 200, signed.Body)

	// 3. Execute it, and wait for the chain.
	executed, err := api.ExecuteTransactionWithResponse(ctx, transaction.Id,
		&orgwallet.ExecuteTransactionParams{XIdempotencyKey: newKey()}, orgwallet.ExecuteRequest{Type: "approve"})
	check(err)
	expect(executed.StatusCode(), 200, executed.Body)
	transaction = transferOf(executed.JSON200)
	for *transaction.ExecutionStatus == "processing" {
		time.Sleep(time.Second)
		read, err := api.GetTransactionWithResponse(ctx, transaction.Id)
		check(err)
		expect(read.StatusCode(), 200, read.Body)
		transaction = transferOf(read.JSON200)
	}
	if *transaction.ExecutionStatus != "completed" {
		log.Fatalf("%s: %+v", *transaction.ExecutionStatus, transaction.Failure)
	}
	fmt.Printf("completed: %s\n", transaction.Id)
}
