// A payment with the client of oapi-codegen, in the package orgwallet.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"log"
	"net/http"
	"os"
	"sort"
	"strings"
	"time"

	"example.com/pay/orgwallet"
	"example.com/pay/wallet"
)

// expect ends the program with the answer if it has another status.
func expect(status, wanted int, body []byte) {
	if status != wanted {
		log.Fatalf("%d: %s", status, body)
	}
}

// client sends the API key.
func client() *orgwallet.ClientWithResponses {
	api, err := orgwallet.NewClientWithResponses(
		os.Getenv("BASE_URL"),
		orgwallet.WithHTTPClient(wallet.HTTPClient()),
		orgwallet.WithRequestEditorFn(func(_ context.Context, request *http.Request) error {
			request.Header.Set("Authorization", "Bearer "+os.Getenv("API_KEY"))
			return nil
		}),
	)
	wallet.Check(err)
	return api
}

// transferOf is the transfer that a response shows.
func transferOf(response *orgwallet.TransactionResponse) orgwallet.TokenTransferTransaction {
	transfer, err := response.Data.AsTokenTransferTransaction()
	wallet.Check(err)
	return transfer
}

func main() {
	api, ctx := client(), context.Background()
	var request orgwallet.CreateTransactionRequest
	wallet.Check(json.Unmarshal([]byte(os.Getenv("PAYMENT")), &request))
	created, err := api.CreateTransactionWithResponse(
		ctx, &orgwallet.CreateTransactionParams{XIdempotencyKey: wallet.NewKey()}, request)
	wallet.Check(err)
	expect(created.StatusCode(), 201, created.Body)
	transaction := transferOf(created.JSON201)
	payload, err := transaction.SigningPayloads.AsInitiatorPayload()
	wallet.Check(err)

	signed, err := api.SignTransactionWithResponse(
		ctx, transaction.Id, &orgwallet.SignTransactionParams{XIdempotencyKey: wallet.NewKey()},
		orgwallet.SignTransactionRequest{
			Type: "initiator", Signature: wallet.Sign(os.Getenv("PRIVATE_KEY"), payload.InitiatorPayload),
		})
	wallet.Check(err)
	expect(signed.StatusCode(), 200, signed.Body)

	executed, err := api.ExecuteTransactionWithResponse(
		ctx, transaction.Id, &orgwallet.ExecuteTransactionParams{XIdempotencyKey: wallet.NewKey()},
		orgwallet.ExecuteRequest{Type: "approve"})
	wallet.Check(err)
	expect(executed.StatusCode(), 200, executed.Body)
	transaction = transferOf(executed.JSON200)
	for *transaction.ExecutionStatus == "processing" {
		time.Sleep(time.Second)
		read, err := api.GetTransactionWithResponse(ctx, transaction.Id)
		wallet.Check(err)
		expect(read.StatusCode(), 200, read.Body)
		transaction = transferOf(read.JSON200)
	}
	fmt.Println(transaction.Id, *transaction.ExecutionStatus)

	listed, err := api.ListProposalsWithResponse(ctx, &orgwallet.ListProposalsParams{})
	wallet.Check(err)
	expect(listed.StatusCode(), 200, listed.Body)
	kinds := []string{}
	for _, proposal := range listed.JSON200.Data {
		kind, err := proposal.Discriminator()
		wallet.Check(err)
		kinds = append(kinds, kind)
	}
	sort.Strings(kinds)
	fmt.Println(strings.Join(kinds, " "))
}
